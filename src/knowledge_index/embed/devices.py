"""Where and how precisely PyTorch computes a model, and giving its memory back."""

import ctypes
import gc
import sys
from typing import Any

from knowledge_index.config.settings import ModelSettings
from knowledge_index.domain.errors import ModelError


def torch_device(settings: ModelSettings) -> str:
    """The device that the settings name.

    Raises:
        ModelError: this machine, or this build of PyTorch, does not have it.
    """
    import torch

    available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not available[settings.device]:
        raise ModelError(
            f"models.device is {settings.device}, which this machine or this build of PyTorch does not have: "
            f"set one of {', '.join(name for name, is_there in available.items() if is_there)}"
        )
    return settings.device


def torch_dtype(settings: ModelSettings) -> Any:
    """The type of number that the settings name."""
    import torch

    return {"float32": torch.float32, "bfloat16": torch.bfloat16}[settings.precision]


def free_memory() -> None:
    """Give back what models that nobody holds any more have left behind, to the device and to the system."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        if torch.backends.mps.is_available():
            torch.mps.empty_cache()
    if sys.platform == "linux":
        # glibc keeps freed pages for itself otherwise; other C libraries have no such function.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def device_memory_bytes(settings: ModelSettings) -> int | None:
    """The most memory of the device that was in use since :func:`reset_device_memory`; None on the CPU.

    Apple's devices tell what is in use, not what was.
    """
    if settings.device == "cpu":
        return None
    import torch

    if settings.device == "cuda":
        return int(torch.cuda.max_memory_allocated())
    return int(torch.mps.driver_allocated_memory())


def reset_device_memory(settings: ModelSettings) -> None:
    """Begin to watch the device's memory anew."""
    if settings.device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
