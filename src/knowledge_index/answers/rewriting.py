"""What a question asks for in other words: legal synonyms and the names under which clauses go, English and German.

It depends on the question alone. The question is searched as it was put as well.
"""

from dataclasses import dataclass
from functools import lru_cache

from knowledge_index.index.analysis import query_terms

# One line a group; phrases of several words are found as phrases. The words of a group stand for each other when it is
# judged whether a sentence speaks of what was asked.
_ALIASES = """
renew, renews, renewal, extend, extends, extension, prolong, verlängern, Verlängerung, Verlängerungsoption
terminate, termination, end, ends, cancel, cancellation, notice, break right, kündigen, Kündigung, beenden, endet
liability, liable, limitation, haften, haftet, Haftung
cap, capped, maximum, ceiling, limit, limited, exceed, upper limit, Höchstbetrag, begrenzt, Haftungsgrenze, höchstens
sell, sells, sold, sale, seller, verkaufen, verkauft, Verkauf
law, governing law, applicable law, governs, governed, anwendbares Recht, Recht, Rechtswahl
jurisdiction, court, courts, venue, forum, arbitration, seat, Gerichtsstand, Gericht, Schiedsgericht, zuständig
confidentiality, confidential, secrecy, secret, Vertraulichkeit, vertraulich, Geheimhaltung, Verschwiegenheit
term, duration, long, length, period, last, lasts, years, Laufzeit, Dauer, dauert, lange, fest, befristet
deposit, security, guarantee, bond, Kaution, Sicherheit, Mietsicherheit, Bürgschaft
rent, monthly, Miete, Monatsmiete, Grundmiete, Mietzins
price, purchase price, consideration, cost, costs, Kaufpreis, Preis, kostet
pay, pays, paid, payment, payable, due, fall due, zahlen, zahlt, gezahlt, zahlbar, Zahlung, fällig, Fälligkeit
salary, remuneration, pay, compensation, base salary, Vergütung, Gehalt, Entgelt, Bruttogehalt
severance, settlement payment, Abfindung
assign, assigns, assignment, transfer, Abtretung, abtreten, Übertragung
sublet, subletting, sublease, untervermieten, Untervermietung, Untermiete
penalty, liquidated damages, contractual penalty, fine, Vertragsstrafe, Konventionalstrafe
warranty, warranties, defects, Gewährleistung, Mängel, Sachmängel, Sachmangel
deliver, delivers, delivery, delivered, lead time, liefern, Lieferung, Lieferfrist
non-compete, non-competition, compete, competition, Wettbewerbsverbot, Wettbewerb
indexation, index, indexed, price adjustment, Indexierung, Wertsicherung, Preisanpassung
party, parties, between, Partei, Parteien, zwischen
date, dated, signed, signature, Datum, geschlossen, unterzeichnet
begin, begins, start, starts, commence, commences, commencement, handover, beginnt, Beginn, Übergabe
repair, repairs, maintain, maintenance, Instandhaltung, Instandsetzung, Reparatur, Reparaturen
insurance, insure, insured, insures, Versicherung, versichern, versichert
late, delay, delayed, arrears, arrear, default, overdue, interest, Verzug, Verzugszinsen, Zinsen, verspätet
mean, means, meaning, defined, definition, bedeutet, Bedeutung, definiert, bezeichnet
holiday, leave, vacation, Urlaub, Urlaubstage
garden leave, release, released, Freistellung, freigestellt
reference, testimonial, certificate, Zeugnis, Arbeitszeugnis
notary, notarial, notarised, Notar, beurkundet, Beurkundung
possession, handover, Besitzübergang, Übergang, Besitz
earn-out, earnout, Kaufpreisanpassung
minimum, at least, least, mindestens, Mindestabnahme, Mindestmenge
exclusive, exclusivity, exclusively, sole, ausschließlich, Exklusivität, Alleinvertrieb
territory, region, country, countries, Vertragsgebiet, Gebiet
resolve, resolved, solve, decide, decides, decided, referred, gelöst, entscheidet
record, records, audit, inspect, inspection, Prüfung, Einsicht
"""
_MAX_ADDED_WORDS = 10


@dataclass(frozen=True)
class Rewriting:
    """``own`` holds for each word that counts its index terms in all spellings, ``alternatives`` its aliases' terms.

    ``words`` are the words of the question as typed, in the same order; ``aliases`` what was added, as words.
    """

    words: tuple[str, ...]
    own: tuple[tuple[str, ...], ...]
    alternatives: tuple[frozenset[str], ...]
    aliases: tuple[str, ...]


def rewrite(question: str, counting: tuple[str, ...]) -> Rewriting:
    """The question's ``counting`` words with their aliases."""
    spellings: list[tuple[str, ...]] = []
    alternatives: list[frozenset[str]] = []
    added: dict[str, None] = {}
    for word in counting:
        spellings.append(tuple(dict.fromkeys(term for each in query_terms(word).alternatives for term in each)))
        own = set(spellings[-1])
        terms: set[str] = set()
        for group in _groups():
            if own & group.single_terms:
                terms |= group.single_terms
                added.update(dict.fromkeys(each for each in group.shown if not set(query_terms(each).wording) & own))
        alternatives.append(frozenset(terms))
    return Rewriting(counting, tuple(spellings), tuple(alternatives), tuple(added)[:_MAX_ADDED_WORDS])


@dataclass(frozen=True)
class _Group:
    single_terms: frozenset[str]
    shown: tuple[str, ...]


@lru_cache(maxsize=1)
def _groups() -> tuple[_Group, ...]:
    groups = []
    for line in _ALIASES.strip().splitlines():
        names = [each.strip() for each in line.split(",")]
        wordings = [query_terms(each).wording for each in names]
        shown: dict[tuple[str, ...], str] = {}
        for name, wording in zip(names, wordings, strict=True):
            shown.setdefault(wording, name)
        groups.append(_Group(frozenset(each[0] for each in wordings if len(each) == 1), tuple(shown.values())))
    return tuple(groups)
