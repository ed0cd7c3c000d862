-- Raises an expiry and never lowers it: a late short extend must not undo a longer one. -1 (no expiry) is longer than
-- any.
local function raise(key, ttl_ms)
  if type(redis.pcall('pexpire', key, ttl_ms, 'gt')) == 'number' then
    return
  end
  -- Before Redis 7.0.
  local left = redis.call('pttl', key)
  if left ~= -1 and left < tonumber(ttl_ms) then
    redis.call('pexpire', key, ttl_ms)
  end
end
