-- with: holds
-- KEYS: resource. ARGV: token, TTL in milliseconds, group, and the id of a client that waits, or ''. What is reserved for
-- the client is free for it.
-- {1, holds of the group, ours included}; {-1, holder, milliseconds until its lease ends}.
local key, group = KEYS[1], ARGV[3]
local kind = redis.call('type', key).ok
if kind == 'string' then
  local value = redis.call('get', key)
  if ARGV[4] == '' or value ~= 'redlock:next:' .. ARGV[4] then
    return {-1, value, redis.call('pttl', key)}
  end
  redis.call('del', key)
  kind = 'none'
end
local now = milliseconds()
if kind ~= 'none' then
  local whose, holds, writer
  if kind == 'zset' then
    whose, holds, writer = read_holds(key, now)
  end
  if not whose then
    return {-1, '', redis.call('pttl', key)}
  end
  if whose ~= group and holds > 0 then
    return {-1, whose, held_for(key, now)}
  end
  -- New readers would make the writer wait for ever. An owner is always let in again.
  if writer and group == 'shared' then
    return {-1, 'writer', writer - now}
  end
end
share(key, group, ARGV[1], now + ARGV[2])
local _, holds = read_holds(key, now)
return {1, holds}
