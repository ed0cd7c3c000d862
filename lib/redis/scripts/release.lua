-- keys: resources...
-- args: token, cooldown_ms, reservation_ms, client?, ticket|blocked?, remember_ms|keep_ms?, quiet?, prefix?
-- Releases the locks of the token: compare and delete. Nobody may have the resources for `cooldown_ms`, even those
-- that are missing. A free resource is reserved for the first client in its queue, for `reservation_ms`; else waiters
-- are notified.
-- An attempt that was lost, and waits on, names its client and ticket, remembered for `remember_ms`. `quiet` is '1'
-- if another client is known to have the lock: that client passes the resource on. `prefix` is how the names of the
-- permits of a semaphore begin.
-- A lost attempt at several resources names the one that is in its way, `blocked`. Those before that one are reserved
-- for its client, for `keep_ms`.
-- Returns 1: deleted; 0: there is nothing; -1: not ours. If there are or were holds, the same with their number: {1,
-- holds that are left}.

-- pcall, because a key of another type is somebody else's and not an error of this call; every other error (NOPERM,
-- READONLY, ...) must reach the caller word for word.
local call = redis.call

-- The usual cases, ahead of functions that cost the node time to define.
local found = {}
if #keys.resources == 1 and args.cooldown_ms == '0' and not args.client then
  -- One command, and nil for a key of another type.
  found = redis.pcall('mget', keys.resources[1], 'redlock:node:awaited')
  if found[1] == args.token and not found[2] then
    return redis.pcall('del', keys.resources[1])
  elseif found[1] and found[1] ~= args.token then
    return -1
  end
elseif args.client and #keys.resources == 1 then
  -- with: tickets
  local value = redis.pcall('get', keys.resources[1])
  -- It may be the next by now, on the strength of an earlier entry.
  if value ~= 'redlock:next:' .. args.client then
    enqueue(args.prefix or keys.resources[1], args.client, args.ticket, args.remember_ms)
  end
  if #keys.resources == 1 and args.cooldown_ms == '0' and type(value) == 'string' and value ~= args.token then
    return -1
  end
end

-- with: waiters
if found[1] then
  return pass_on(keys.resources[1], args.reservation_ms) and 1 or redis.pcall('del', keys.resources[1])
end

-- with: holds
local function give_up(key)
  if args.cooldown_ms == '0' then
    if args.client and #keys.resources > 1 and key < args.blocked and args.keep_ms ~= '0' then
      call('set', key, 'redlock:next:' .. args.client, 'PX', args.keep_ms)
    elseif args.quiet == '1' or not is_awaited() or not pass_on(key, args.reservation_ms) then
      call('del', key)
    end
    return
  end
  -- Waiters read the rest of the interval from the key.
  call('set', key, 'redlock:cooldown', 'PX', args.cooldown_ms)
  if is_awaited() then
    notify(key)
  end
end

local result = 0
for i = 1, #keys.resources do
  local key = keys.resources[i]
  local value = redis.pcall('get', key)
  if value == args.token then
    give_up(key)
    result = 1
  elseif type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then
      return value
    end
    local whose, holds, writer, reserved
    if call('type', key).ok == 'zset' then
      whose, holds, writer, reserved = read_holds(key, milliseconds())
    end
    if holds == 0 and args.cooldown_ms ~= '0' then
      -- Only a writer that waits for readers, and has to wait for the interval as well.
      call('set', key, 'redlock:cooldown', 'PX', args.cooldown_ms)
    elseif whose and #keys.resources == 1 then
      if call('zrem', key, 'hold:' .. args.token) == 0 then
        return {holds == 0 and 0 or -1, holds}
      end
      if holds > 1 or reserved then
        expire_with_last(key)
        -- Who has new holds refused will have it reserved, unless readers that were let in do not come.
        if (holds == 1 or not writer) and is_awaited() then
          notify(key)
        end
      elseif not is_awaited() or not pass_on(key, args.reservation_ms) then
        if writer then
          expire_with_last(key)
        else
          call('del', key)
        end
      end
      return {1, holds - 1}
    elseif result == 0 and holds ~= 0 then
      result = -1
    end
  elseif args.cooldown_ms ~= '0' and (not value or value == 'redlock:cooldown') then
    -- This node missed the lease: its interval counts here all the same, also behind an older one.
    if call('pttl', key) < tonumber(args.cooldown_ms) then
      call('set', key, 'redlock:cooldown', 'PX', args.cooldown_ms)
    end
  elseif value and result == 0 then
    result = -1
  end
end
return result
