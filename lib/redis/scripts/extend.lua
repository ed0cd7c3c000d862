-- keys: resources...
-- args: token, ttl_ms, kind, repair, reservation_ms?
-- Extends the locks of the token. `kind` says what they are: 'key' keys of their own, '' unknown, else holds of the group
-- of that name. `repair` '1': a node restores locks that it lost. `reservation_ms` is given only if a writer's key with
-- the token is to become a reader's hold, in one step: the readers at the front of the queue are let in, and the
-- resource is reserved for them for `reservation_ms`.
-- Returns 1: ours, and the locks now live at least `ttl_ms`; {1, holds}: a hold of ours, which now lives at least
-- `ttl_ms`; 2: something was gone and is ours again; 0: gone; -1: not ours.
local call = redis.call

-- with: expiry
-- The usual case comes before the functions, which cost the node time to define.
if #keys.resources == 1 and redis.pcall('get', keys.resources[1]) == args.token then
  local key = keys.resources[1]
  if not args.reservation_ms then
    raise(key, args.ttl_ms)
    return 1
  end
  -- with: holds
  -- with: waiters
  -- A key without an expiry counts as a year: no lock lives longer.
  local left = call('pttl', key)
  left = math.max(left == -1 and 31536000000 or left, tonumber(args.ttl_ms))
  local ends = string.format('%.0f', milliseconds() + left)
  call('del', key, 'redlock:node:next:' .. key)
  local shared = redis.pcall('zadd', key, 0, 'group:shared', ends, 'hold:' .. args.token)
  if type(shared) == 'table' then
    -- The Redis user has no right to write holds: restores the key.
    call('set', key, args.token, 'PX', left)
    return shared
  end
  expire_with_last(key)
  if is_awaited() then
    let_in_readers(key, args.reservation_ms)
    if call('exists', 'redlock:node:next:' .. key) == 1 then
      keep_watch(key, args.reservation_ms)
    end
  end
  return {1, 1}
end

-- with: holds
-- with: possession
local holding, gone = nil, {}
for i = 1, #keys.resources do
  local what, other, whose = possession_of(keys.resources[i], args.token, args.kind, #keys.resources == 1)
  if not what then
    return other
  elseif what == 'hold' then
    -- An owner's lock has no readers.
    if args.reservation_ms and whose ~= 'shared' then
      return -1
    end
    holding = other
  elseif what == 'gone' then
    gone[#gone + 1] = keys.resources[i]
  end
end
if #gone > 0 and args.repair ~= '1' then
  return 0
end
if holding then
  local ends = milliseconds() + args.ttl_ms
  if tonumber(call('zscore', keys.resources[1], 'hold:' .. args.token)) < ends then
    call('zadd', keys.resources[1], string.format('%.0f', ends), 'hold:' .. args.token)
    expire_with_last(keys.resources[1])
  end
  return {1, holding}
end
for _, key in ipairs(gone) do
  if args.kind == 'key' then
    call('set', key, args.token, 'PX', args.ttl_ms)
  else
    share(key, args.kind, args.token, milliseconds() + args.ttl_ms)
  end
end
for i = 1, #keys.resources do
  raise(keys.resources[i], args.ttl_ms)
end
return #gone > 0 and 2 or 1
