"""What every experiment needs: jobs, their results on disk, and the report about them.

An `experiment` has jobs; `processes` do them, a `store` keeps what they measured, `results` are
both together; a `report` is made of sections with `tables` and pictures (`drawing`) and written
in `formats`; the `runner` walks that way from end to end.
"""
