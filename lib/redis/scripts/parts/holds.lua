-- A lease that others may share is a hold: a member "hold:TOKEN" of a sorted set at the resource, scored
-- with the millisecond at which it ends by this node's clock. A member "group:…" scored 0 names the group that may
-- share: "group:shared", or "group:owner NAME". While somebody else waits, the score of "writer" is until when new holds
-- are refused. While readers are let in together, the score of "next" is until when the resource is reserved for them;
-- their ids are in a set of their own. After an operator has broken a hold with a delay, the delay is a hold too, of the
-- operator's token, the keeper: a member "keeper:TOKEN" scored 0 says so. No hold is added until it ends, for nobody.
-- The key lives as long as its last member.
local function milliseconds()
  local time = redis.call('time')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Removes the holds that have ended. Returns the group, the number of holds, until when new ones are refused, until when
-- the resource is reserved for readers, and the keeper, whose hold counts as well; nil if the set is not one of ours. If
-- only the keeper's hold is left, nobody is of its group: the keeper is returned as the group.
local function read_holds(key, now)
  local first = redis.call('zrange', key, 0, 1, 'withscores')
  if first[2] ~= '0' or string.sub(first[1], 1, 6) ~= 'group:' then
    return nil
  end
  redis.call('zremrangebyscore', key, '(0', string.format('%.0f', now))
  local writer = tonumber(redis.call('zscore', key, 'writer'))
  local reserved = tonumber(redis.call('zscore', key, 'next'))
  local keeper = first[3] and string.match(first[3], '^keeper:(.*)')
  if keeper and not redis.call('zscore', key, 'hold:' .. keeper) then
    redis.call('zrem', key, 'keeper:' .. keeper)
    keeper = nil
  end
  local others = 1 + (writer and 1 or 0) + (reserved and 1 or 0) + (keeper and 1 or 0)
  local holds = redis.call('zcard', key) - others
  return keeper and holds == 1 and keeper or string.sub(first[1], 7), holds, writer, reserved, keeper
end

-- The holds without the keeper's.
local function leases_of(holds, keeper)
  return holds - (keeper and 1 or 0)
end

-- Whether the client is one of the readers that are let in together. If so, removes it from them: the client enters
-- now, or no longer wants to.
local function admit(key, client)
  local admitted = 'redlock:node:next:' .. key
  if redis.call('zrem', admitted, client) == 0 then
    return false
  elseif redis.call('zcard', admitted) == 0 then
    redis.call('zrem', key, 'next')
  end
  return true
end

local function expire_with_last(key)
  local last = redis.call('zrevrange', key, 0, 0, 'withscores')
  redis.call('pexpireat', key, string.format('%.0f', last[2]))
end

-- Milliseconds until the last hold, or the reservation for readers, ends.
local function held_for(key, now)
  for _, last in ipairs({0, 1}) do
    local member = redis.call('zrevrange', key, last, last, 'withscores')
    if member[1] and member[1] ~= 'writer' then
      return member[2] - now
    end
  end
  return 0
end

-- Refuses new holds for `wait` milliseconds, because another client waits. An owner may need another hold before it
-- gives up the first: the owner still gets holds while it has one that is older than the wait.
local function refuse_new_holds(key, group, now, wait)
  local before = 'redlock:node:before:' .. key
  if group ~= 'shared' then
    if not redis.call('zscore', key, 'writer') then
      redis.call('del', before)
      for _, member in ipairs(redis.call('zrange', key, 0, -1)) do
        if string.sub(member, 1, 5) == 'hold:' then
          redis.call('zadd', before, 0, member)
        end
      end
    end
    redis.call('pexpire', before, wait)
  end
  redis.call('zadd', key, string.format('%.0f', now + wait), 'writer')
  expire_with_last(key)
end

-- Adds a hold. Must be called only if no other group has holds.
local function share(key, group, token, ends)
  if redis.call('type', key).ok == 'zset' and not redis.call('zscore', key, 'group:' .. group) then
    redis.call('del', key)
  end
  redis.call('zadd', key, 0, 'group:' .. group, string.format('%.0f', ends), 'hold:' .. token)
  expire_with_last(key)
end
