-- keys: resource
-- args: reservation_ms
-- What is left to do after a release by a plain command: a free resource is reserved for the first client in its
-- queue, for `reservation_ms`. Else the first two clients are notified.
-- Returns 0.
-- with: waiters
if redis.call('exists', keys.resource) == 0 then
  pass_on(keys.resource, args.reservation_ms)
else
  notify(keys.resource)
end
return 0
