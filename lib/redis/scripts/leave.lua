-- keys: resource
-- args: client, mode, reservation_ms, permits?
-- The client no longer waits for the resource. Its reservation passes to the first client in the queue, for
-- `reservation_ms`. The mode is '1' if others can share the resource, '2' if the client had new holds refused, else
-- '0'. `permits` is the number of permits of a semaphore: `resource` is then the beginning of their names.
-- Returns 0.
local key, queue = keys.resource, 'redlock:node:queue:' .. keys.resource
local was_first = redis.call('zrange', queue, 0, 0)[1] == args.client
redis.call('zrem', queue, args.client, '~' .. args.client)
-- with: waiters
stop_watching(key, args.client)
if args.permits then
  for i = 1, tonumber(args.permits) do
    local permit = key .. (i - 1)
    local value = redis.pcall('get', permit)
    if value == 'redlock:next:' .. args.client then
      redis.call('del', permit)
      pass_on(permit, args.reservation_ms)
    elseif type(value) == 'string' and string.sub(value, 1, 13) == 'redlock:next:' then
      keep_watch(key, args.reservation_ms)
    end
  end
  return 0
end
-- The usual case comes before the functions, which cost the node time to define: the holder will pass the resource on.
local value = args.mode ~= '1' and redis.pcall('get', key)
if type(value) == 'string' and value ~= 'redlock:next:' .. args.client and value ~= 'redlock:cooldown' then
  if string.sub(value, 1, 13) == 'redlock:next:' then
    keep_watch(key, args.reservation_ms)
  end
  return 0
end
-- with: holds
-- with: holder
-- When the node let in the readers before this client, it began to refuse new readers for the first writer in the
-- queue.
local lets_in = args.mode == '2' or (was_first and is_for_readers(key))
forget_among_holds(key, args.client, lets_in)
if redis.call('type', key).ok == 'string' and redis.call('get', key) == 'redlock:next:' .. args.client then
  redis.call('del', key)
end
if not is_awaited() then
  return 0
elseif find_holder(key) then
  -- Readers that were queued after the writer, or were too many to be let in together with this one, join those that
  -- hold the resource, as new readers do now.
  local reads = is_reader(redis.call('zrange', queue, 0, 0)[1])
  if is_for_readers(key) and (lets_in or (reads and not redis.call('zscore', key, 'writer'))) then
    let_in_readers(key, args.reservation_ms)
  end
  if args.mode == '1' then
    notify(key)
  elseif redis.call('exists', 'redlock:node:next:' .. key) == 1 then
    keep_watch(key, args.reservation_ms)
  end
elseif redis.call('type', key).ok == 'string' then
  notify(key)
else
  pass_on(key, args.reservation_ms)
end
return 0
