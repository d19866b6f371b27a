from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowledge_index.config import AppConfig, load_config
from knowledge_index.domain.errors import ConfigurationError

DEFAULT_RRF_K = 60


def write_toml(home: Path, text: str) -> Path:
    file = home / "config.toml"
    file.write_text(text, encoding="utf-8")
    return file


def refusal(
    home: Path, environment: Mapping[str, str] | None = None, overrides: Mapping[str, str] | None = None
) -> str:
    with pytest.raises(ConfigurationError) as error:
        load_config(home, environment or {}, overrides)
    return str(error.value)


def test_without_any_layer_the_defaults_are_in_force(tmp_path: Path) -> None:
    loaded = load_config(tmp_path, {"PATH": "/bin", "XKI_RETRIEVAL__FUSION_RRF_K": "7"})
    assert loaded.config == AppConfig()
    assert loaded.config.retrieval.fusion_rrf_k == DEFAULT_RRF_K
    assert loaded.origins == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.booleans(), st.booleans(), st.booleans())
def test_the_command_line_beats_the_environment_beats_the_file_beats_the_default(
    tmp_path: Path, in_file: bool, in_environment: bool, on_command_line: bool
) -> None:
    file = write_toml(tmp_path, "[retrieval]\nfusion_rrf_k = 31\n" if in_file else "")
    environment = {"KI_RETRIEVAL__FUSION_RRF_K": "32"} if in_environment else {}
    overrides = {"retrieval.fusion_rrf_k": "33"} if on_command_line else {}
    layers = [
        (on_command_line, 33, "command line retrieval.fusion_rrf_k"),
        (in_environment, 32, "environment KI_RETRIEVAL__FUSION_RRF_K"),
        (in_file, 31, str(file)),
        (True, DEFAULT_RRF_K, None),
    ]
    value, origin = next((value, origin) for present, value, origin in layers if present)
    loaded = load_config(tmp_path, environment, overrides)
    assert loaded.config.retrieval.fusion_rrf_k == value
    assert loaded.origins.get("retrieval.fusion_rrf_k") == origin


def test_layers_meet_key_by_key_not_section_by_section(tmp_path: Path) -> None:
    file = write_toml(tmp_path, "[retrieval]\nfusion_rrf_k = 31\ncandidate_pool = 50\n[embedding]\nthreads = 1\n")
    loaded = load_config(tmp_path, {"KI_RETRIEVAL__CANDIDATE_POOL": "60"}, {"retrieval.weight_lexical": "0.7"})
    assert loaded.config.retrieval.fusion_rrf_k == 31
    assert loaded.config.retrieval.candidate_pool == 60
    assert loaded.config.retrieval.weight_lexical == 0.7
    assert loaded.config.retrieval.weight_semantic == 1.0
    assert loaded.config.embedding.threads == 1
    assert loaded.origins == {
        "retrieval.fusion_rrf_k": str(file),
        "retrieval.candidate_pool": "environment KI_RETRIEVAL__CANDIDATE_POOL",
        "retrieval.weight_lexical": "command line retrieval.weight_lexical",
        "embedding.threads": str(file),
    }


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[nosuch]\nkey = 1\n", "nosuch"),
        ("[nosuch]\n", "nosuch"),
        ("[retrieval]\nfusion_rrf = 31\n", "retrieval.fusion_rrf"),
        ("[retrieval.deeper]\nkey = 1\n", "retrieval.deeper"),
        ("fusion_rrf_k = 31\n", "fusion_rrf_k"),
    ],
)
def test_an_unknown_key_in_the_file_is_refused(tmp_path: Path, text: str, named: str) -> None:
    file = write_toml(tmp_path, text)
    message = refusal(tmp_path)
    assert str(file) in message
    assert named in message
    assert "ki config show" in message


@pytest.mark.parametrize(
    "variable", ["KI_RETRIEVAL__FUSION_RRF", "KI_NOSUCH__KEY", "KI_RETRIEVAL_FUSION_RRF_K", "KI_", "KI_HOMES", "KI___"]
)
def test_an_unknown_variable_is_refused(tmp_path: Path, variable: str) -> None:
    message = refusal(tmp_path, {variable: "31"})
    assert f"environment: {variable} " in message or f"environment {variable}:" in message
    assert "ki config show" in message


@pytest.mark.parametrize("name", ["retrieval.fusion_rrf", "nosuch.key", "retrieval", "retrieval.", "a.b.c", "."])
def test_an_unknown_override_is_refused(tmp_path: Path, name: str) -> None:
    assert f"command line {name}" in refusal(tmp_path, overrides={name: "31"})


def test_global_options_are_no_settings(tmp_path: Path) -> None:
    loaded = load_config(tmp_path, {"KI_HOME": str(tmp_path), "KI_DEBUG": "1"})
    assert loaded.config == AppConfig()
    assert loaded.origins == {}


BAD_VALUES = [
    ("retrieval", "fusion_rrf_k", "0"),
    ("retrieval", "fusion_rrf_k", "2.5"),
    ("retrieval", "fusion_rrf_k", '"many"'),
    ("retrieval", "weight_lexical", "-0.1"),
    ("retrieval", "weight_semantic", "[1.0]"),
    ("retrieval", "version_status_boost", "1.5"),
    ("retrieval", "candidate_pool", "0"),
    ("retrieval", "max_chunks_per_document", "-1"),
    ("retrieval", "collapse_per_document", '"perhaps"'),
    ("chunking", "strategy", '"paragraph"'),
    ("chunking", "clause_max_chars", "10"),
    ("embedding", "threads", "0"),
    ("embedding", "threads", "65"),
    ("embedding", "weights_sha256", '"abc"'),
    ("embedding", "model", "7"),
]


@pytest.mark.parametrize(("section", "key", "value"), BAD_VALUES)
def test_a_value_that_does_not_fit_is_refused_in_every_layer_with_its_place(
    tmp_path: Path, section: str, key: str, value: str
) -> None:
    variable = f"KI_{section}__{key}".upper()
    where = f"{section}.{key}: "
    assert f"environment {variable}: {where}" in refusal(tmp_path, {variable: value})
    assert f"command line {section}.{key}: {where}" in refusal(tmp_path, overrides={f"{section}.{key}": value})
    file = write_toml(tmp_path, f"[{section}]\n{key} = {value}\n")
    assert f"{file}: {where}" in refusal(tmp_path)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("key", ["weight_lexical", "weight_semantic", "weight_identifier", "version_status_boost"])
def test_what_is_no_finite_number_is_refused(tmp_path: Path, key: str, number: str) -> None:
    json_name = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[number]
    for text in (number, json_name):
        assert f"retrieval.{key}: " in refusal(tmp_path, {f"KI_RETRIEVAL__{key.upper()}": text})
    write_toml(tmp_path, f"[retrieval]\n{key} = {number}\n")
    assert f"retrieval.{key}: " in refusal(tmp_path)


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    write_toml(tmp_path, "[retrieval]\nfusion_rrf_k = 0\n")
    message = refusal(tmp_path, {"KI_EMBEDDING__THREADS": "0"}, {"chunking.strategy": "x"})
    assert [line.split(": ")[1] for line in message.splitlines()[:-1]] == [
        "retrieval.fusion_rrf_k",
        "chunking.strategy",
        "embedding.threads",
    ]


def test_reranking_without_a_model_is_refused(tmp_path: Path) -> None:
    file = write_toml(tmp_path, "[retrieval]\ncandidate_pool = 50\n")
    message = refusal(tmp_path, overrides={"retrieval.rerank_enabled": "true"})
    assert "rerank_model" in message
    # The two layers that made the section are both named: either may hold the fault.
    assert "command line retrieval.rerank_enabled" in message
    assert str(file) in message
    with_model = {"retrieval.rerank_enabled": "true", "retrieval.rerank_model": "models/cross"}
    assert load_config(tmp_path, {}, with_model).config.retrieval.rerank_enabled


def test_settings_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    weights = {f"retrieval.weight_{leg}": "0" for leg in ("lexical", "semantic", "identifier")}
    assert "nothing would be searched" in refusal(tmp_path, overrides=weights)
    assert "fixed_overlap_chars" in refusal(
        tmp_path, overrides={"chunking.fixed_overlap_chars": "500", "chunking.fixed_window_chars": "500"}
    )
    assert "clause_min_chars" in refusal(
        tmp_path, overrides={"chunking.clause_min_chars": "900", "chunking.clause_max_chars": "900"}
    )


@pytest.mark.parametrize(
    "content",
    [b"[retrieval", b"[retrieval]\nfusion_rrf_k = \xff\n", b"[retrieval]\nfusion_rrf_k = 1\nfusion_rrf_k = 2\n"],
)
def test_a_file_that_is_no_toml_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    assert f"{tmp_path / 'config.toml'}: cannot be read as TOML" in refusal(tmp_path)


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    assert str(tmp_path / "config.toml") in refusal(tmp_path)


def test_text_needs_no_quotes_and_null_unsets(tmp_path: Path) -> None:
    write_toml(tmp_path, '[retrieval]\nrerank_model = "in-the-file"\n')
    loaded = load_config(tmp_path, {"KI_EMBEDDING__MODEL": "models/mini lm"}, {"retrieval.rerank_model": "null"})
    assert loaded.config.embedding.model == "models/mini lm"
    assert loaded.config.retrieval.rerank_model is None
    assert loaded.origins["retrieval.rerank_model"] == "command line retrieval.rerank_model"


def test_settings_cannot_be_changed_once_loaded(tmp_path: Path) -> None:
    config = load_config(tmp_path, {}).config
    with pytest.raises(ValueError, match="frozen"):
        config.retrieval.fusion_rrf_k = 1  # type: ignore[misc]


def test_what_no_parser_can_hold_is_refused(tmp_path: Path) -> None:
    deep, long = "[" * 100_000, "9" * 400
    assert "x: unknown setting" in refusal(tmp_path, overrides={"x.y": deep})
    assert "fusion_rrf_k: " in refusal(tmp_path, {"KI_RETRIEVAL__FUSION_RRF_K": long})
    for content in (deep, "9" * 5000):
        write_toml(tmp_path, f"[retrieval]\nfusion_rrf_k = {content}")
        assert "cannot be read as TOML" in refusal(tmp_path)
