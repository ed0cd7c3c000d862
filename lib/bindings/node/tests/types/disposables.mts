// `await using`, with the lib "esnext.disposable".
import type { Client, Election } from 'quorum-redlock';

export async function use(client: Client, election: Election): Promise<number> {
  await using closing = client;
  await using lease = await closing.acquire('x');
  await using leadership = await election.campaign();
  const disposable: AsyncDisposable = lease;
  void disposable;
  return leadership.term;
}

export async function refused(client: Client): Promise<void> {
  // @ts-expect-error: nothing waits for the release of a synchronous one
  using lease = await client.acquire('x');
  void lease;
}
