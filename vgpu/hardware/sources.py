"""Where the figures of `gpus.py` come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Source:
    """A document's title and address."""

    title: str
    url: str


_IMAGES = "https://images.nvidia.com/aem-dam/"
_CONTENT = "https://www.nvidia.com/content/"
_SITE = "https://www.nvidia.com/en-us/data-center/"
_GUIDE = "https://docs.nvidia.com/cuda/archive/12.9.1/cuda-c-programming-guide/index.html"
_HALF = "tensor figures: half of those with sparsity"
_LINKS = "both directions together"

_DOCUMENTS = {
    "capability": ("NVIDIA, compute capability of each GPU", "https://developer.nvidia.com/cuda-gpus"),
    "limits": (
        "CUDA C++ Programming Guide, Technical Specifications per Compute Capability; "
        "the same numbers stand in the CUDA 13 header cuda/__device/arch_traits.h",
        _GUIDE + "#features-and-technical-specifications",
    ),
    "throughput": (
        "CUDA C++ Programming Guide, Throughput of Native Arithmetic Instructions",
        _GUIDE + "#throughput-of-native-arithmetic-instructions",
    ),
    "occupancy": (
        "CUDA 13 header cuda_occupancy.h: allocation units, partitions, reserved shared memory",
        "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__OCCUPANCY.html",
    ),
    "banks": (
        "CUDA C++ Programming Guide, Shared Memory: 32 banks of 32 bits a clock, so 128 bytes; on Turing 64 "
        "(NVIDIA Ampere GA102 GPU Architecture, V2, compares the two)",
        _GUIDE + "#shared-memory-5-x",
    ),
    "latencies": (
        "Jia, Maggioni, Staiger, Scarpazza: Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking, 2018: "
        "4 clocks on Volta; taken for the later ones too",
        "https://arxiv.org/abs/1804.06826",
    ),
    "unified": (
        "CUDA Programming Guide 13, Compute Capabilities, unified data cache size; for Volta the V100 white paper",
        "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/compute-capabilities.html",
    ),
    "chase": (
        "D. Ernst (NHR@FAU), gpu-benches: chases over 62 kB, 4.3 MB and 206 MB in random order, measured on the PCIe "
        "cards of V100 and H100 and on the A100 80 GB",
        "https://github.com/te42kyfo/gpu-benches",
    ),
    "luo": (
        "Luo and others: Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking, 2024, "
        "table IV; its A100 is the PCIe card of 40 GB",
        "https://arxiv.org/abs/2402.13499",
    ),
    "mt4g_v100": (
        "TU Munich, MT4G: measured topology of a Tesla V100-PCIE-16GB (median)",
        "https://github.com/caps-tum/mt4g/tree/main/sample_results",
    ),
    "mt4g_h100": (
        "TU Munich, MT4G: measured topology of an H100 80GB HBM3 (median)",
        "https://github.com/caps-tum/mt4g/tree/main/sample_results",
    ),
    "copy_engines": (
        "Assumption: one engine a direction. CUDA C++ Programming Guide, Concurrent Data Transfers: asyncEngineCount "
        "of 2 lets copies both ways overlap; GPUs for data centres report more",
        _GUIDE + "#concurrent-data-transfers",
    ),
    "launch": (
        "Assumption: 5 microseconds, an order of magnitude. NVIDIA's blog on CUDA graphs measures, beyond a "
        "2.9 microsecond kernel, 0.9 (launches overlapped) to 6.7 (synchronised after each)",
        "https://developer.nvidia.com/blog/cuda-graphs/",
    ),
    "derived": (
        "Derived: 2 x SMs x FP64 lanes x boost clock, lanes from the throughput table of the CUDA guide",
        _GUIDE + "#throughput-of-native-arithmetic-instructions",
    ),
    "turing": (
        "NVIDIA Turing GPU Architecture, WP-09183-001, Tesla T4",
        _IMAGES + "en-zz/Solutions/design-visualization/technologies/turing-architecture/"
        "NVIDIA-Turing-Architecture-Whitepaper.pdf",
    ),
    "t4": (
        f"NVIDIA T4 data sheet (PCIe Gen3 x16, 32 GB/s {_LINKS})",
        _CONTENT + "dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
    ),
    "volta": (
        "NVIDIA Tesla V100 GPU Architecture, WP-08608-001",
        "https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
    ),
    "v100": (
        f"NVIDIA V100 data sheet (PCIe Gen3, 32 GB/s {_LINKS})",
        "https://images.nvidia.com/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
    ),
    "ampere": (
        "NVIDIA A100 Tensor Core GPU Architecture, V1.0",
        _IMAGES + "en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf",
    ),
    "ampere_blog": (
        "NVIDIA Ampere Architecture In-Depth (L2 reads: 5120 bytes a clock on A100, 2048 on V100), x clock",
        "https://developer.nvidia.com/blog/nvidia-ampere-architecture-in-depth/",
    ),
    "a100": (
        f"NVIDIA A100 data sheet, 80 GB SXM (PCIe Gen4 64 GB/s, NVLink 600 GB/s, {_LINKS})",
        _CONTENT + "dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    ),
    "ga102": (
        "NVIDIA Ampere GA102 GPU Architecture, V2, GeForce RTX 3090 (tensor figures: FP32 accumulation)",
        _CONTENT + "PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
    ),
    "ada": (
        "NVIDIA Ada GPU Architecture, GeForce RTX 4090 (tensor figures: FP32 accumulation)",
        _IMAGES + "Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
    ),
    "rtx_blackwell": (
        "NVIDIA RTX Blackwell GPU Architecture, GeForce RTX 5090 (tensor figures: FP32 accumulation)",
        _IMAGES + "Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
    ),
    "l4": (f"NVIDIA L4 Tensor Core GPU data sheet ({_HALF})", _SITE + "l4/"),
    "l4_board": (
        "NVIDIA L4 Tensor Core GPU product brief, PB-11316-001",
        _CONTENT + "dam/en-zz/Solutions/Data-Center/l4/PB-11316-001_v01.pdf",
    ),
    "l4_sms": (
        "Derived: FP32 peak of the L4 data sheet / (2 x lanes x boost clock of the product brief)",
        _SITE + "l4/",
    ),
    "ad104": (
        "NVIDIA Ada GPU Architecture, AD104, the L4's chip",
        _IMAGES + "Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf",
    ),
    "hopper": (
        "NVIDIA H100 Tensor Core GPU Architecture, H100 SXM5",
        "https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper",
    ),
    "h100": (
        f"NVIDIA H100 data sheet, SXM (PCIe Gen5 128 GB/s, NVLink 900 GB/s, {_LINKS})",
        _SITE + "h100/",
    ),
    "h200": (f"NVIDIA H200 data sheet, SXM ({_HALF}; links {_LINKS})", _SITE + "h200/"),
    "h200_chip": (
        "Device properties of an H200 as PyTorch prints them, in ai-bot-pro/achatbot",
        "https://github.com/ai-bot-pro/achatbot/blob/859e21612de769164d8d1802d794ef8f87ace3c8/"
        "deploy/modal/src/llm/vllm/vlm/skywork_r1v.py",
    ),
    "b200": (f"NVIDIA HGX platform, HGX B200, one eighth ({_HALF}; links {_LINKS})", _SITE + "hgx/"),
    "b200_chip": (
        "Device properties of a B200 as a driver reports them, in pytorch/ao pull request 4002",
        "https://github.com/pytorch/ao/pull/4002",
    ),
    "b200_clock": (
        "Derived: FP32 peak of HGX B200 / (2 x SMs x lanes); NVIDIA prints no boost clock",
        _SITE + "hgx/",
    ),
}
SOURCES = {key: Source(title, url) for key, (title, url) in _DOCUMENTS.items()}
