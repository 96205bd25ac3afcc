def line_bound(problem, points, found, multiplier, tol):
    from channelcode.capacity.line_search import LineSearch
    s=LineSearch(problem)
    return found.nats+s.violations(found.output,multiplier,found.nats,points)[1],'stub'
