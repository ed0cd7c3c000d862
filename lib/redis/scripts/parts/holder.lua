-- Returns whether the resource has a holder, whose release will notify, and whether it has a writer reservation. It has
-- no holder during its interval, or while only a writer reservation is left.
local function find_holder(key)
  local kind = redis.call('type', key).ok
  if kind == 'string' then
    return redis.call('get', key) ~= 'redlock:cooldown', false
  elseif kind == 'zset' then
    local whose, holds, writer, reserved = read_holds(key, milliseconds())
    return not whose or holds > 0 or reserved ~= nil, writer ~= nil
  end
  return kind ~= 'none', false
end

-- Whether readers hold the resource, are let in, or have left only a writer reservation; not during a delay.
local function is_for_readers(key)
  if redis.call('type', key).ok ~= 'zset' then
    return false
  end
  local whose, _, _, _, keeper = read_holds(key, milliseconds())
  return whose == 'shared' and not keeper
end

-- The client no longer waits: drops its reservation and, with `lets_in`, the writer reservation.
local function forget_among_holds(key, client, lets_in)
  if redis.call('type', key).ok ~= 'zset' then
    return
  end
  local whose, holds, writer, reserved = read_holds(key, milliseconds())
  if not whose then
    return
  end
  if reserved and admit(key, client) then
    reserved = redis.call('zscore', key, 'next')
  end
  if writer and lets_in then
    redis.call('zrem', key, 'writer')
    writer = nil
  end
  if holds == 0 and not reserved and not writer then
    redis.call('del', key)
  else
    expire_with_last(key)
  end
end
