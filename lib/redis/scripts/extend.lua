-- ARGV: token, TTL in milliseconds, '1' to give the key back to a node that lost it.
-- 1: ours, and it now lives at least that long; 2: it was gone and is ours again; 0: gone;
-- -1: not ours.
local value = redis.pcall('get', KEYS[1])
if value == ARGV[1] then
  -- Only ever raised: a late short extend must not undo a longer one, and -1 (no expiry) is longer
  -- than any. Compared here because PEXPIRE ... GT exists from Redis 7.0 only.
  local left = redis.call('pttl', KEYS[1])
  if left ~= -1 and left < tonumber(ARGV[2]) then
    redis.call('pexpire', KEYS[1], ARGV[2])
  end
  return 1
end
if not value then
  if ARGV[3] ~= '1' then
    return 0
  end
  redis.call('set', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2])
  return 2
end
-- A key of another type is somebody else's; every other error must reach the caller word for word.
if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
  return value
end
return -1
