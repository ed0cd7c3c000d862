-- KEYS: resource, numbers, quarantine. ARGV: a token, or ''.
-- {value, or false where there is no string, PTTL, type, number, PTTL of the quarantine}: all of one
-- instant, which commands of their own would not be; of holds also {…, group, how many, 1 if the token is
-- one of them}. GET is asked only of a string, so that it can not raise.
local key = KEYS[1]
local kind = redis.call('type', key).ok
local number = redis.pcall('zscore', KEYS[2], key)
number = type(number) == 'string' and tonumber(number) or 0
local left = redis.call('pttl', key)
local quarantine = redis.call('pttl', KEYS[3])
if kind == 'string' then
  return {redis.call('get', key), left, kind, number, quarantine}
end
if kind == 'zset' then
  local first = redis.call('zrange', key, 0, 0, 'withscores')
  if first[2] == '0' and string.sub(first[1], 1, 6) == 'group:' then
    local time = redis.call('time')
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local holds = redis.call('zcount', key, string.format('(%.0f', now), '+inf')
    local writer = tonumber(redis.call('zscore', key, 'writer'))
    if writer and writer > now then
      holds = holds - 1
    end
    local mine = tonumber(redis.call('zscore', key, 'hold:' .. ARGV[1]))
    return {false, left, kind, number, quarantine, string.sub(first[1], 7), holds,
      mine and mine > now and 1 or 0}
  end
end
return {false, left, kind, number, quarantine}
