-- keys: resource
-- args: reservation_ms
-- Completes a release by a plain command: reserves a free resource for the first client in its queue, for
-- `reservation_ms`. If the resource is not free, notifies the first two clients in the queue.
-- Returns 0.
-- with: waiters
if redis.call('exists', keys.resource) == 0 then
  pass_on(keys.resource, args.reservation_ms)
else
  notify(keys.resource)
end
return 0
