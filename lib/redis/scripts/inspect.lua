-- keys: resource, numbers, quarantine
-- args: token
-- Reads everything about a resource at one instant. `token` is '', or a token that may have a hold.
-- Returns {value (false: not a string), PTTL, type, number, PTTL of the quarantine, for people}; for a key with holds
-- {..., texts, number of holds, 1 if the token has one of them}. The texts are the group and, if `token` is '', the
-- tokens of the 256 holds that end first, with that of a delay, which does not count. A text longer than a token is cut
-- to a length that no token has. If only a delay is left, its token is the value.
-- The part for people has these texts: how many clients are queued, the successor, the successor's name, the holder's
-- name, the last locks that operators broke (each: milliseconds, token, name), and the names of the first 8 holds. A
-- name that cannot be read is ''.
-- Each of these texts follows its length.
local key = keys.resource
local kind = redis.call('type', key).ok
local number = redis.pcall('zscore', keys.numbers, key)
number = type(number) == 'string' and math.min(tonumber(number), 9007199254740991) or 0
local left = redis.call('pttl', key)
local quarantine = redis.call('pttl', keys.quarantine)

local function with_length(text)
  return #text .. ':' .. text
end
local function list(texts)
  return with_length(table.concat(texts))
end
-- with: names
local function first_of(set)
  local first = redis.pcall('zrange', set, 0, 0)[1]
  return first and string.sub(string.gsub(first, '^~', ''), 1, 128) or ''
end
local function for_people(holder, next, names)
  local queue, audit = 'redlock:node:queue:' .. key, {}
  -- A client that waits for a permit waits for any permit of its semaphore.
  local any = string.match(key, '^(.*#)%d+$')
  if any and redis.pcall('exists', queue) == 0 then
    queue = 'redlock:node:queue:' .. any
  end
  local waiters = redis.pcall('zcard', queue)
  -- The member '' is not a client.
  waiters = type(waiters) == 'number' and math.max(waiters - 1, 0) or 0
  next = next or first_of(queue)
  local entries = redis.pcall('zrevrange', 'redlock:node:audit:' .. key, 0, 7, 'withscores')
  for i = 1, #entries, 2 do
    audit[#audit + 1] = with_length(entries[i + 1]) .. string.sub(entries[i], 1, 400)
  end
  return with_length(tostring(waiters)) .. with_length(next) .. with_length(name_of(next)) .. with_length(name_of(holder))
    .. list(audit) .. list(names)
end

-- GET reads only strings, so that it cannot raise an error.
if kind == 'string' then
  local value = redis.call('get', key)
  local reserved_for = string.match(string.sub(value, 1, 141), '^redlock:next:(.*)')
  return {value, left, kind, number, quarantine, for_people(client_of(value), reserved_for, {})}
end
if kind == 'zset' then
  local first = redis.call('zrange', key, 0, 0, 'withscores')
  if first[2] == '0' and string.sub(first[1], 1, 6) == 'group:' then
    local time = redis.call('time')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local later = string.format('(%.0f', now)
    local holds = redis.call('zcount', key, later, '+inf')
    local writer = tonumber(redis.call('zscore', key, 'writer'))
    if writer and writer > now then
      holds = holds - 1
    end
    local reserved = tonumber(redis.call('zscore', key, 'next'))
    if reserved and reserved > now then
      holds = holds - 1
    else
      reserved = nil
    end
    -- with: delays
    local keeper, ends = read_delay(key, now)
    if keeper then
      holds = holds - 1
    end
    if keeper and holds == 0 then
      return {keeper, ends - now, 'string', number, quarantine, for_people(client_of(keeper), nil, {})}
    end
    local mine = tonumber(redis.call('zscore', key, 'hold:' .. args.token))
    local texts, names = {with_length(string.sub(first[1], 7, 135))}, {}
    if args.token == '' then
      for _, member in ipairs(redis.call('zrangebyscore', key, later, '+inf', 'limit', 0, 257)) do
        if string.sub(member, 1, 5) == 'hold:' and #texts <= 256 then
          texts[#texts + 1] = with_length(string.sub(member, 6, 134))
          if #names < 8 then
            names[#names + 1] = with_length(name_of(client_of(string.sub(member, 6))))
          end
        end
      end
    end
    local admitted = reserved and first_of('redlock:node:next:' .. key)
    return {false, left, kind, number, quarantine, for_people('', admitted, names), table.concat(texts), holds,
      mine and mine > now and 1 or 0}
  end
end
return {false, left, kind, number, quarantine, for_people('', nil, {})}
