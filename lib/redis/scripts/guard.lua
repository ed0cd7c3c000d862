-- KEYS: marker, quarantine, numbers. ARGV: run_id; replication id and number of evictions, in one text; longest TTL
-- and quarantine of the client in milliseconds; 'durable' if the node says that it loses nothing, else 'volatile'; the
-- name by which the client reaches it; a fresh incarnation; 'look' to write nothing.
-- {the marker that is there now, quarantine left in milliseconds, why}. See lib/core/membership/marker.hpp for the format.
local marker = redis.call('get', KEYS[1])
local state, id, run_id, replid, longest, durable, self, members, admissions, since, written_at
if marker then
  state, id, run_id, replid, longest, durable, self, members, admissions, since, written_at = string.match(marker,
    '^redlock3 (%l+) %S+ (%S+) (%S+) (%S+) (%d+) (%l+) (%S+) (%S+) (%S+)( ?%S-) (%d+)$')
  longest = tonumber(longest)
end
if longest and longest > 31536000000 then
  longest = nil -- a year: see limits::longest_max_ttl
end
if ARGV[8] ~= 'look' and not (longest and run_id == ARGV[1] and replid == ARGV[2]) then
  local time = redis.call('time')
  local now = time[1] * 1000000 + time[2]
  -- By its name, because the marker of another node may have come with that node's data. Of this process, it came back
  -- with the data of a master that this node was a replica of.
  local keeps = longest and run_id ~= ARGV[1] and ARGV[5] == 'durable' and durable == 'durable'
    and self ~= '-' and self == ARGV[6]
  if not keeps then
    local quarantine = tonumber(ARGV[4])
    if longest and longest ~= tonumber(ARGV[3]) then
      -- The max TTL of its deployment counts, whichever client meets the node.
      quarantine = math.ceil(longest + longest / 100 + 2)
    end
    local why = not longest and 'empty' or run_id ~= ARGV[1] and 'restarted' or 'role'
    if why == 'role' and string.match(replid, '^[^+]*') == string.match(ARGV[2], '^[^+]*') then
      why = 'evicted'
    end
    -- First, so that a failure in between leaves no marker without it. A quarantine is never made shorter.
    local left = redis.call('pttl', KEYS[2])
    if left < quarantine and left ~= -1 then
      redis.call('set', KEYS[2], why, 'PX', string.format('%.0f', quarantine))
    end
    -- Numbers may have been forgotten too: their floor is this node's clock at the quarantine's end (see fence.lua). A
    -- floor only rises.
    local floor = now + quarantine * 1000
    if floor > (tonumber(redis.call('zscore', KEYS[3], '')) or 0) then
      redis.call('zadd', KEYS[3], string.format('%.0f', floor), '',
        'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
    end
    state, id, self, members, admissions = 'blank', '-', ARGV[6], '-', '-'
    -- A node without a marker may be new. The client that takes it back, or opens its deployment again, knows better.
    since = longest and ' since' or ''
    longest = longest or tonumber(ARGV[3])
  elseif since == ' since' then
    since = ' ' .. written_at
  end
  marker = table.concat({'redlock3', state, ARGV[7], id, ARGV[1], ARGV[2], string.format('%.0f', longest), ARGV[5],
    self, members, admissions .. since, string.format('%.0f', now)}, ' ')
  redis.call('set', KEYS[1], marker)
end
marker = marker or ''
local left = redis.call('pttl', KEYS[2])
if left == -2 then
  return {marker, 0, ''}
end
return {marker, left == -1 and tonumber(ARGV[4]) or left, redis.call('get', KEYS[2]) or ''}
