"""The child's side of a trial, inside the user's process: small, torch and the standard library only, no policy.

The parent starts :mod:`launch` as a file, so that the probe also runs under an interpreter where accel-advisor is not
installed. Nothing here imports anything of the package but this folder.
"""
