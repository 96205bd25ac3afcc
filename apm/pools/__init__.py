"""Feature matrices of pools: `inputs` checks what comes in, `sparse` holds sparse rows."""
