-- KEYS: resources. ARGV: token; for how many milliseconds nobody may have them yet, also where they are missing; for
-- how many a free resource is reserved for who is first in its queue; of an attempt that was lost, and waits on, also
-- the client's id, its ticket, for how many milliseconds to remember it, '1' if another client is known to have the lock:
-- then the resource is passed on by that one; and of a permit, how the names of all of its semaphore begin. Of a lost
-- attempt at several resources instead the client's id, the name of the one that is in its way, and for how many
-- milliseconds those before that one are reserved for the client.
-- Compare and delete. 1: deleted; 0: there is nothing; -1: not ours; where there are or were holds, the
-- same with their number: {1, holds that are left}. What is free is passed on; else the waiters are notified.
-- pcall, because a key of another type is somebody else's and not an error of this call; every
-- other error (NOPERM, READONLY, ...) must reach the caller word for word.
local call = redis.call

-- The usual cases, ahead of functions that cost the node time to define.
local found = {}
if #KEYS == 1 and ARGV[2] == '0' and not ARGV[4] then
  -- One command, and nil for a key of another type.
  found = redis.pcall('mget', KEYS[1], 'redlock:node:awaited')
  if found[1] == ARGV[1] and not found[2] then
    return redis.pcall('del', KEYS[1])
  elseif found[1] and found[1] ~= ARGV[1] then
    return -1
  end
elseif ARGV[4] and #KEYS == 1 then
  -- with: tickets
  local value = redis.pcall('get', KEYS[1])
  -- It may be the next by now, on the strength of an earlier entry.
  if value ~= 'redlock:next:' .. ARGV[4] then
    enqueue(ARGV[8] or KEYS[1], ARGV[4], ARGV[5], ARGV[6])
  end
  if #KEYS == 1 and ARGV[2] == '0' and type(value) == 'string' and value ~= ARGV[1] then
    return -1
  end
end

-- with: waiters
if found[1] then
  return pass_on(KEYS[1], ARGV[3]) and 1 or redis.pcall('del', KEYS[1])
end

-- with: holds
local function give_up(key)
  if ARGV[2] == '0' then
    if ARGV[4] and #KEYS > 1 and key < ARGV[5] and ARGV[6] ~= '0' then
      call('set', key, 'redlock:next:' .. ARGV[4], 'PX', ARGV[6])
    elseif ARGV[7] == '1' or not is_awaited() or not pass_on(key, ARGV[3]) then
      call('del', key)
    end
    return
  end
  -- Waiters read the rest of the interval from the key.
  call('set', key, 'redlock:cooldown', 'PX', ARGV[2])
  if is_awaited() then
    notify(key)
  end
end

local result = 0
for i = 1, #KEYS do
  local key = KEYS[i]
  local value = redis.pcall('get', key)
  if value == ARGV[1] then
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
    if holds == 0 and ARGV[2] ~= '0' then
      -- Only a writer that waits for readers, and has to wait for the interval as well.
      call('set', key, 'redlock:cooldown', 'PX', ARGV[2])
    elseif whose and #KEYS == 1 then
      if call('zrem', key, 'hold:' .. ARGV[1]) == 0 then
        return {holds == 0 and 0 or -1, holds}
      end
      if holds > 1 or reserved then
        expire_with_last(key)
        -- Who has new holds refused will have it reserved, unless readers that were let in do not come.
        if (holds == 1 or not writer) and is_awaited() then
          notify(key)
        end
      elseif not is_awaited() or not pass_on(key, ARGV[3]) then
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
  elseif ARGV[2] ~= '0' and (not value or value == 'redlock:cooldown') then
    -- This node missed the lease: its interval counts here all the same, also behind an older one.
    if call('pttl', key) < tonumber(ARGV[2]) then
      call('set', key, 'redlock:cooldown', 'PX', ARGV[2])
    end
  elseif value and result == 0 then
    result = -1
  end
end
return result
