-- Whether the resource has a holder, whose release will notify. It has none while its interval is not over, or
-- while only a waiting writer's reservation is left of it, which is the second answer.
local function find_holder(key)
  local kind = redis.call('type', key).ok
  if kind == 'string' then
    return redis.call('get', key) ~= 'redlock:cooldown', false
  elseif kind == 'zset' then
    local whose, holds, writer = read_holds(key, milliseconds())
    return not whose or holds > 0, writer ~= nil
  end
  return kind ~= 'none', false
end

-- Lets readers in again.
local function drop_reservation(key)
  if redis.call('type', key).ok ~= 'zset' then
    return
  end
  local whose, holds, writer = read_holds(key, milliseconds())
  if not whose or not writer then
    return
  elseif holds == 0 then
    redis.call('del', key)
  else
    redis.call('zrem', key, 'writer')
    expire_with_last(key)
  end
end
