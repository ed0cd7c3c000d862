-- KEYS: resource. ARGV: the id of a client that does not wait for it any more, '1' if others can share it, '2' if the
-- client had new holds refused, for how many milliseconds the resource is reserved for the next, and of a semaphore the
-- number of its permits: KEYS[1] is what their names begin with. What was reserved for the client is passed on.
local key, queue = KEYS[1], 'redlock:node:queue:' .. KEYS[1]
local was_first = redis.call('zrange', queue, 0, 0)[1] == ARGV[1]
redis.call('zrem', queue, ARGV[1], '~' .. ARGV[1])
-- with: waiters
stop_watching(key, ARGV[1])
if ARGV[4] then
  for i = 1, tonumber(ARGV[4]) do
    local permit = key .. (i - 1)
    local value = redis.pcall('get', permit)
    if value == 'redlock:next:' .. ARGV[1] then
      redis.call('del', permit)
      pass_on(permit, ARGV[3])
    elseif type(value) == 'string' and string.sub(value, 1, 13) == 'redlock:next:' then
      keep_watch(key, ARGV[3])
    end
  end
  return 0
end
-- The usual case, ahead of functions that cost the node time to define: its holder will pass it on.
local value = ARGV[2] ~= '1' and redis.pcall('get', key)
if type(value) == 'string' and value ~= 'redlock:next:' .. ARGV[1] and value ~= 'redlock:cooldown' then
  if string.sub(value, 1, 13) == 'redlock:next:' then
    keep_watch(key, ARGV[3])
  end
  return 0
end
-- with: holds
-- with: holder
-- For who is first and does not read, the node had new readers refused when it let in those ahead of it.
local lets_in = ARGV[2] == '2' or (was_first and is_for_readers(key))
forget_among_holds(key, ARGV[1], lets_in)
if redis.call('type', key).ok == 'string' and redis.call('get', key) == 'redlock:next:' .. ARGV[1] then
  redis.call('del', key)
end
if not is_awaited() then
  return 0
elseif find_holder(key) then
  -- Readers that were queued behind the writer come in with those that hold the resource, as new ones do now. So do those
  -- that were too many to be let in together with this one.
  local reads = is_reader(redis.call('zrange', queue, 0, 0)[1])
  if is_for_readers(key) and (lets_in or (reads and not redis.call('zscore', key, 'writer'))) then
    let_in_readers(key, ARGV[3])
  end
  if ARGV[2] == '1' then
    notify(key)
  elseif redis.call('exists', 'redlock:node:next:' .. key) == 1 then
    keep_watch(key, ARGV[3])
  end
elseif redis.call('type', key).ok == 'string' then
  notify(key)
else
  pass_on(key, ARGV[3])
end
return 0
