-- keys: resource
-- args: ttl_ms, token_bytes
-- Gives an expiry to a lock that has none. Only a string of at most `token_bytes` can be a token, and so a lock:
-- everything else is data.
-- Returns 1: the key had no expiry and now has `ttl_ms`; 0: nothing was changed.
local key = keys.resource
if redis.call('type', key).ok ~= 'string' or redis.call('pttl', key) ~= -1 then
  return 0
end
local length = redis.call('strlen', key)
if length == 0 or length > tonumber(args.token_bytes) then
  return 0
end
redis.call('pexpire', key, args.ttl_ms)
return 1
