-- KEYS: resource. ARGV: the id of a client that does not wait for it any more, '1' if others can share it, '2' if the
-- client's writer reservation ends, and for how many milliseconds the resource is reserved for the next. What was
-- reserved for the client is passed on.
local key = KEYS[1]
redis.call('zrem', 'redlock:node:queue:' .. key, ARGV[1], '+' .. ARGV[1])
-- with: waiters
stop_watching(key, ARGV[1])
-- The usual case, ahead of functions that cost the node time to define: its holder will pass it on.
local value = ARGV[2] ~= '1' and redis.pcall('get', key)
if type(value) == 'string' and value ~= 'redlock:next:' .. ARGV[1] and value ~= 'redlock:cooldown' then
  return 0
end
-- with: holds
-- with: holder
if ARGV[2] == '2' then
  drop_reservation(key)
end
if redis.call('type', key).ok == 'string' and redis.call('get', key) == 'redlock:next:' .. ARGV[1] then
  redis.call('del', key)
end
if redis.call('exists', key) == 0 then
  if is_awaited() then
    pass_on(key, ARGV[3])
  end
elseif (ARGV[2] == '1' or not find_holder(key)) and is_awaited() then
  notify(key)
end
return 0
