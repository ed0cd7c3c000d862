-- keys: resources...
-- args: token, cooldown_ms, reservation_ms, client?, ticket|kept?, remember_ms|keep_ms?, quiet?, prefix?
-- Releases the locks of the token: compare and delete. Nobody may have the resources for `cooldown_ms`, even those
-- that are missing. A free resource is reserved for the first client in its queue, for `reservation_ms`; else waiters
-- are notified.
-- A lost attempt that keeps waiting names its client and ticket, remembered for `remember_ms`. `quiet` is '1' if
-- another client is known to have the lock: that client passes the resource on. `prefix` is the beginning of the names
-- of a semaphore's permits.
-- A lost attempt at several resources names those that stay reserved for its client, for `keep_ms`: `kept` is '1' for
-- each of these, '0' for each of the others.
-- Returns 1: deleted; 0: nothing is there; -1: not ours. If there are or were holds: {the same number, holds that are
-- left}.

-- pcall, because a key of another type is somebody else's and not an error of this call; every other error (NOPERM,
-- READONLY, ...) must reach the caller word for word.
local call = redis.call

-- The usual cases come before the functions, which cost the node time to define.
local found = {}
if #keys.resources == 1 and args.cooldown_ms == '0' and not args.client then
  -- One command reads both keys, and answers nil for a key of another type.
  found = redis.pcall('mget', keys.resources[1], 'redlock:node:awaited')
  if found[1] == args.token and not found[2] then
    return redis.pcall('del', keys.resources[1])
  elseif found[1] and found[1] ~= args.token then
    return -1
  end
elseif args.client and #keys.resources == 1 then
  -- with: tickets
  local value = redis.pcall('get', keys.resources[1])
  -- An earlier queue entry may have made the client the successor by now.
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
local function give_up(key, which)
  if args.cooldown_ms == '0' then
    local kept = args.client and #keys.resources > 1 and string.sub(args.kept, which, which) == '1'
    if kept and args.keep_ms ~= '0' then
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
    give_up(key, i)
    result = 1
  elseif type(value) == 'table' then
    if not string.find(value.err, 'WRONGTYPE', 1, true) then
      return value
    end
    local whose, holds, writer, reserved, keeper
    if call('type', key).ok == 'zset' then
      whose, holds, writer, reserved, keeper = read_holds(key, milliseconds())
    end
    if holds == 0 and args.cooldown_ms ~= '0' then
      -- No hold is left, only a writer that waits for readers; the writer has to wait for the interval too.
      call('set', key, 'redlock:cooldown', 'PX', args.cooldown_ms)
    elseif whose and #keys.resources == 1 then
      if call('zrem', key, 'hold:' .. args.token) == 0 then
        return {holds == 0 and 0 or -1, leases_of(holds, keeper)}
      end
      -- The end of a delay, by its own token, releases no lease.
      local left = leases_of(holds - 1, keeper ~= args.token and keeper)
      if holds > 1 or reserved then
        expire_with_last(key)
        -- A waiting writer needs no notification: it will have the resource reserved. But readers that were let in may
        -- not come, and after the last lease the writer waits only for the delay.
        if (left == 0 or keeper or not writer) and is_awaited() then
          notify(key)
        end
      elseif not is_awaited() or not pass_on(key, args.reservation_ms) then
        if writer then
          expire_with_last(key)
        else
          call('del', key)
        end
      end
      return {1, left}
    elseif result == 0 and holds ~= 0 then
      result = -1
    end
  elseif args.cooldown_ms ~= '0' and (not value or value == 'redlock:cooldown') then
    -- This node missed the lease. The lease's interval still counts here, and can prolong an older one.
    if call('pttl', key) < tonumber(args.cooldown_ms) then
      call('set', key, 'redlock:cooldown', 'PX', args.cooldown_ms)
    end
  elseif value and result == 0 then
    result = -1
  end
end
return result
