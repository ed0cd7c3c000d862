-- Compare and delete. 1: deleted, 0: there is no such key, -1: it is not ours.
-- pcall, because a key of another type is somebody else's and not an error of this call; every
-- other error (NOPERM, READONLY, ...) must reach the caller word for word.
local value = redis.pcall('get', KEYS[1])
if value == ARGV[1] then
  redis.call('del', KEYS[1])
  return 1
end
if not value then
  return 0
end
if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
  return value
end
return -1
