#!/usr/bin/env bash
# A small law firm is built from the sample task set, ingested, searched and measured.
# Usage: scripts/demo.sh KI, where KI is the installed command; everything is made anew under demo/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

ki="${1:?usage: scripts/demo.sh KI, for example .venv/bin/ki}"
firm=demo/firm
question="when is the earn-out paid"
group=group:corporate-ma

# Settings of the caller's own installation would change what is shown, and an unknown one is refused.
for name in $(compgen -e | grep '^KI_' || true); do
    unset "$name"
done
export KI_HOME=demo/home

step() {
    printf '\n==> %s\n' "$1"
    shift
    printf '    ki'
    for word in "$@"; do
        if [[ "$word" == *' '* ]]; then printf ' "%s"' "$word"; else printf ' %s' "$word"; fi
    done
    printf '\n\n'
    "$ki" "$@"
}

rm -rf demo
mkdir demo

step "Build a law firm: the sample task set becomes matters, grants and gold" \
    generate-benchmark "$firm" --source testdata/sample-task-set
step "Connect the firm's documents as a source, with its permissions" \
    add-source "$firm/mock_dms" --name dms --acl-map "$firm/acl-by-path.json"
step "Observe the source: what is there, and who may see it" \
    sync
step "Convert, relate, enrich and index every document" \
    run
step "What operators see" \
    status
step "Search as a member of the corporate group" \
    search "$question" --as "$group" --limit 3
step "The same question from someone without any grant" \
    search "$question" --as user:visitor
step "Ask, and get an answer whose citations were checked" \
    ask "When is the earn-out paid?" --as "$group"
step "Measure four baselines against frozen gold, probe every wall, and judge" \
    run-retrieval-eval sample --baseline ladder --min-lift 0.05 --report demo/report.json

cat <<END

The demo is done. The firm is in $firm, the whole report in demo/report.json. Now search yourself, for example:

    KI_HOME=demo/home $ki search "17 Ca 402/25" --as group:employment
END
