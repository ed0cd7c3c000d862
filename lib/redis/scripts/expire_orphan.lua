-- ARGV: TTL in milliseconds. 1: the key had no expiry and has this one now; 0: nothing was changed.
if redis.call('pttl', KEYS[1]) ~= -1 then
  return 0
end
redis.call('pexpire', KEYS[1], ARGV[1])
return 1
