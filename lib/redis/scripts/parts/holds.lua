-- A lease that others may share is a hold: a member "hold:TOKEN" of a sorted set at the resource, scored
-- with the millisecond at which it ends by this node's clock. A member "group:…" scored 0 names the group that may
-- share: "group:shared", or "group:owner NAME". While a writer waits for readers, the score of "writer" is when its
-- reservation ends. The key lives as long as its last member.
local function milliseconds()
  local time = redis.call('time')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Removes the holds that have ended. Returns the group, the number of its holds, and when a waiting writer's
-- reservation ends; nil if the set is not one of ours.
local function read_holds(key, now)
  local first = redis.call('zrange', key, 0, 0, 'withscores')
  if first[2] ~= '0' or string.sub(first[1], 1, 6) ~= 'group:' then
    return nil
  end
  redis.call('zremrangebyscore', key, '(0', string.format('%.0f', now))
  local writer = tonumber(redis.call('zscore', key, 'writer'))
  return string.sub(first[1], 7), redis.call('zcard', key) - (writer and 2 or 1), writer
end

local function expire_with_last(key)
  local last = redis.call('zrevrange', key, 0, 0, 'withscores')
  redis.call('pexpireat', key, string.format('%.0f', last[2]))
end

-- When the last hold ends, in milliseconds from now.
local function held_for(key, now)
  for _, last in ipairs({0, 1}) do
    local member = redis.call('zrevrange', key, last, last, 'withscores')
    if member[1] and member[1] ~= 'writer' then
      return member[2] - now
    end
  end
  return 0
end

-- Only where no other group has holds.
local function share(key, group, token, ends)
  if redis.call('type', key).ok == 'zset' and not redis.call('zscore', key, 'group:' .. group) then
    redis.call('del', key)
  end
  redis.call('zadd', key, 0, 'group:' .. group, string.format('%.0f', ends), 'hold:' .. token)
  expire_with_last(key)
end
