"""Tiny models of each registered architecture, in folders as they are published; weights are random but fixed."""

import json
from pathlib import Path

WORDS = ["rent", "lease", "tenant", "notice", "cake", "plum", "12", "query", "passage", ":", "represent", "this"]
_BERT_MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "initializer_range": 0.5,
}


def build_bert_embedder(folder: Path, pooling: str) -> Path:
    """A sentence-transformers folder with ``mean`` or ``cls`` pooling, and normalisation behind it."""
    import torch
    from transformers import BertConfig, BertModel

    _bert_tokenizer(folder)
    torch.manual_seed(7)
    BertModel(BertConfig(vocab_size=len(_BERT_MARKS) + len(WORDS), **_SIZES)).eval().save_pretrained(folder)
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("Normalize", "2_Normalize")]
    _json(
        folder / "modules.json",
        [
            {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for place, (kind, path) in enumerate(modules)
        ],
    )
    _json(folder / "sentence_bert_config.json", {"max_seq_length": 32, "do_lower_case": False})
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    flags = {"pooling_mode_mean_tokens": pooling == "mean", "pooling_mode_cls_token": pooling == "cls"}
    _json(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 16, **flags})
    return folder


def build_bert_cross_encoder(folder: Path) -> Path:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    _bert_tokenizer(folder)
    torch.manual_seed(7)
    config = BertConfig(vocab_size=len(_BERT_MARKS) + len(WORDS), num_labels=1, **_SIZES)
    BertForSequenceClassification(config).eval().save_pretrained(folder)
    return folder


def build_roberta_cross_encoder(folder: Path) -> Path:
    """The architecture of bge-reranker-v2-m3."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForSequenceClassification

    vocabulary = {word: place for place, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>",
        cls_token="<s>", sep_token="</s>", model_max_length=60,
    ).save_pretrained(folder)  # fmt: skip
    torch.manual_seed(7)
    config = XLMRobertaConfig(vocab_size=len(vocabulary), num_labels=1, pad_token_id=1, **_SIZES)
    XLMRobertaForSequenceClassification(config).eval().save_pretrained(folder)
    return folder


def build_qwen3(folder: Path, *, for_ranking: bool) -> Path:
    """Qwen3 with bytes as tokens; the embedder's tokenizer ends each text with its mark, the reranker's does not."""
    import torch
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, Qwen3Model

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {sign: place for place, sign in enumerate(alphabet)}
    merges = [("y", "e"), ("ye", "s"), ("n", "o")]
    for left, right in merges:
        vocabulary[left + right] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    marks = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in marks])
    if not for_ranking:
        end = tokenizer.token_to_id("<|endoftext|>")
        tokenizer.post_processor = processors.TemplateProcessing(
            single="$A <|endoftext|>", pair="$A $B <|endoftext|>", special_tokens=[("<|endoftext|>", end)]
        )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|endoftext|>", eos_token="<|im_end|>", model_max_length=8192
    ).save_pretrained(folder)
    config = Qwen3Config(
        vocab_size=tokenizer.get_vocab_size(), head_dim=8, num_key_value_heads=1, tie_word_embeddings=True,
        **{**_SIZES, "max_position_embeddings": 8192, "initializer_range": 0.3},
    )  # fmt: skip
    torch.manual_seed(7)
    model = Qwen3ForCausalLM(config) if for_ranking else Qwen3Model(config)
    model.eval().save_pretrained(folder)
    return folder


def _bert_tokenizer(folder: Path) -> None:
    from transformers import BertTokenizerFast

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join(_BERT_MARKS + WORDS))
    BertTokenizerFast.from_pretrained(str(folder), local_files_only=True).save_pretrained(folder)


def _json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value))
