-- KEYS: marker, quarantine, numbers. ARGV: what the marker says.
local time = redis.call('time')
local now = time[1] * 1000000 + time[2]
-- The floor of fencing numbers only rises, also over an opening: see fence.lua.
if now > (tonumber(redis.call('zscore', KEYS[3], '')) or 0) then
  redis.call('zadd', KEYS[3], string.format('%.0f', now), '',
    'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
end
redis.call('set', KEYS[1], ARGV[1])
-- Last, so that a failure in between leaves the node without a vote.
redis.call('del', KEYS[2])
return 1
