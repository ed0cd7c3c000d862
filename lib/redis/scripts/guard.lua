-- keys: marker, quarantine, numbers
-- args: run_id, history, origin, policy, longest_ms, quarantine_ms, durability, name, incarnation, mode
-- Begins a quarantine if the node may have forgotten locks, and writes its marker: see lib/core/membership/marker.hpp
-- for the format, and node_memory.hpp for what the node says about its memory. `history` is the replication id and the
-- number of evictions, in one text. `origin` is 'own' if the process never loaded another server's data. `policy` is
-- 'keeps' if the server evicts nothing now. `longest_ms` and `quarantine_ms` are the client's longest TTL and
-- quarantine. `durability` is 'durable' if the node says that it loses nothing, else 'volatile'. `name` is how the
-- client reaches the node. The mode 'look' writes nothing.
-- Returns {the marker that is there now, quarantine left in milliseconds, the reason for the quarantine}.
-- with: floor
local marker = redis.call('get', keys.marker)
local state, id, run_id, replid, longest, durable, self, members, admissions, since, written_at
if marker then
  state, id, run_id, replid, longest, durable, self, members, admissions, since, written_at = string.match(marker,
    '^redlock3 (%l+) %S+ (%S+) (%S+) (%S+) (%d+) (%l+) (%S+) (%S+) (%S+)( ?%S-) (%d+)$')
  longest = tonumber(longest)
end
if longest and longest > 31536000000 then
  longest = nil -- a year: see limits::longest_max_ttl
end
-- Why the node may have forgotten locks; nil: it has forgotten none.
local why
local outdated = false
if not longest then
  why = 'empty'
elseif run_id ~= args.run_id then
  outdated = true
  -- The name must match, because another node's marker may have come with that node's data.
  if args.durability ~= 'durable' or durable ~= 'durable' or self == '-' or self ~= args.name then
    why = 'restarted'
  end
else
  local marked_as, marked = string.match(replid, '^([^+]*)%+?(%d*)')
  local known_as, evicted = string.match(args.history, '^([^+]*)%+?(%d*)')
  outdated = marked ~= evicted
  if marked_as ~= known_as and args.origin ~= 'own' then
    why = 'role'
  elseif outdated and not (evicted == '' and args.policy == 'keeps') then
    why = 'evicted'
  end
end
if args.mode ~= 'look' and (why or outdated) then
  local time = redis.call('time')
  local now = time[1] * 1000000 + time[2]
  if why then
    local quarantine = tonumber(args.quarantine_ms)
    if longest and longest ~= tonumber(args.longest_ms) then
      -- The max TTL of its deployment counts, whichever client meets the node.
      quarantine = math.ceil(longest + longest / 100 + 2)
    end
    -- The quarantine comes first, so that a failure in between leaves no marker without a quarantine. A quarantine is
    -- never made shorter.
    local left = redis.call('pttl', keys.quarantine)
    if left < quarantine and left ~= -1 then
      redis.call('set', keys.quarantine, why, 'PX', string.format('%.0f', quarantine))
    end
    -- Its clock at the end of the quarantine.
    raise_floor(keys.numbers, now + quarantine * 1000)
    state, id, self, members, admissions = 'blank', '-', args.name, '-', '-'
    durable = args.durability
    -- A node without a marker may be new. The client that takes it back, or opens its deployment again, knows better.
    since = longest and ' since' or ''
    longest = longest or tonumber(args.longest_ms)
  elseif since == ' since' then
    since = ' ' .. written_at
  end
  marker = table.concat({'redlock3', state, args.incarnation, id, args.run_id, args.history,
    string.format('%.0f', longest), durable, self, members, admissions .. since, string.format('%.0f', now)}, ' ')
  redis.call('set', keys.marker, marker)
end
marker = marker or ''
local left = redis.call('pttl', keys.quarantine)
if left == -2 then
  return {marker, 0, ''}
end
return {marker, left == -1 and tonumber(args.quarantine_ms) or left, redis.call('get', keys.quarantine) or ''}
