"""`python -m vgpu`: see `vgpu.programs.command`."""

from vgpu.programs.command import main

if __name__ == "__main__":
    raise SystemExit(main())
