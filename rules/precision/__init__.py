"""Rules about the precision of arithmetic: autocast, scalers, TF32."""
