-- KEYS: resource, number, fence. ARGV: token, number f; to take the lock also its TTL in
-- milliseconds. Without it, the number of a lock that is ours is raised.
-- {1, f}: ours, and its number F was below f and is f now; {2, F}: ours, F is not below f;
-- {-1, holder, PTTL}: not ours. Numbers are microseconds, so that all stay integers below 2^53.
local call = redis.call
local f = tonumber(ARGV[2])
local kept = tonumber(call('get', KEYS[2]))

-- F is kept for two days after it was last written. What has expired is not above `old`: `new` is
-- not below any F ever written here, becomes `mid` after an hour and `old` after another; at once
-- when nobody called for two hours, or when this clock went back.
local mark = call('hmget', KEYS[3], 'old', 'new', 'at', 'due', 'mid')
local old, new = tonumber(mark[1]), tonumber(mark[2])
local write_mark, at, mid = false, mark[3], mark[5]
-- The clock is looked at only where it matters: half of the calls this script makes.
if not kept or not old or not new or f > new or mark[4] == '1' then
  local time = call('time')
  local now = time[1] * 1000000 + time[2]
  at, mid = tonumber(at), tonumber(mid) or new
  if ARGV[3] and f > now + 86400000000 then
    return redis.error_reply('FENCE the number asked for is more than a day ahead of this node: '
      .. "the client's clock or this node's is wrong")
  end
  if not old or not new or not at or mark[4] == '1' then
    -- This memory has forgotten numbers: the floor is this node's own clock.
    old = math.max(new or 0, now)
    new, mid, at, write_mark = old, old, now, true
  elseif now < at or now - at > 7200000000 then
    old, mid, at, write_mark = new, new, now, true
  elseif now - at > 3600000000 then
    old, mid, at, write_mark = math.max(old, mid), new, now, true
  end
end

if ARGV[3] then
  if not call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[3]) then
    local string_there = call('type', KEYS[1]).ok == 'string'
    return {-1, string_there and call('get', KEYS[1]) or '', call('pttl', KEYS[1])}
  end
else
  local holder = call('type', KEYS[1]).ok == 'string' and call('get', KEYS[1]) or ''
  if holder ~= ARGV[1] then
    return {-1, holder, call('pttl', KEYS[1])}
  end
end

local last = math.max(kept or 0, old)
-- Strict: that is what makes an answer of 1 worth something.
if last < f then
  local longest = 172800000
  if ARGV[3] and 2 * tonumber(ARGV[3]) > longest then
    longest = 2 * tonumber(ARGV[3])
  end
  call('set', KEYS[2], ARGV[2], 'PX', string.format('%.0f', longest))
  if f > new then
    -- A minute ahead, so that it is written once a minute.
    new, write_mark = f + 60000000, true
  end
end
if write_mark then
  call('hset', KEYS[3], 'old', string.format('%.0f', old), 'mid', string.format('%.0f', mid),
    'new', string.format('%.0f', new), 'at', string.format('%.0f', at), 'due', '0')
end
if last < f then
  return {1, f}
end
return {2, last}
