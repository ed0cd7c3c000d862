-- ARGV: TTL in milliseconds, length of the longest token. 1: the key had no expiry and has this one now; 0:
-- nothing was changed. Only a string that can be a token is somebody's lock: everything else is data.
local key = KEYS[1]
if redis.call('type', key).ok ~= 'string' or redis.call('pttl', key) ~= -1 then
  return 0
end
local length = redis.call('strlen', key)
if length == 0 or length > tonumber(ARGV[2]) then
  return 0
end
redis.call('pexpire', key, ARGV[1])
return 1
