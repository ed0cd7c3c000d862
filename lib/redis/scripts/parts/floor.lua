-- Fencing numbers may have been forgotten: from now on, their floor is this instant, in microseconds (see fence.lua). A
-- floor only rises.
local function raise_floor(numbers, floor)
  if floor > (tonumber(redis.call('zscore', numbers, '')) or 0) then
    redis.call('zadd', numbers, string.format('%.0f', floor), '',
      'inf', 'redlock:node: so long a name that Redis keeps a skip list, not a list')
  end
end
