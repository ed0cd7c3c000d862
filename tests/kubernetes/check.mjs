// check.mjs MODULES MANIFESTS: the objects in MODULES/objects.yaml, which kubectl made, or those
// that MANIFESTS/kustomization.yaml names, are valid and match each other. Writes
// MODULES/objects.ts, in which a compiler finds misspelt fields: the schemas allow unknown fields.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [modules, manifests] = process.argv.slice(2).map((folder) => resolve(folder));
const require = createRequire(join(modules, 'package.json'));
const yaml = require('yaml');

let failures = 0;
function expect(what, holds) {
  if (holds) return;
  console.log(`FAILED: ${what}`);
  ++failures;
}

// Numbers as kubectl reads them: 0440 is octal.
const documentsIn = (text) =>
  yaml.parseAllDocuments(text, { version: '1.1' }).map((document) => document.toJS()).filter(Boolean);
const textOf = (file) => readFileSync(join(manifests, file), 'utf8');

function objectsWithoutKubectl() {
  const [kustomization] = documentsIn(textOf('kustomization.yaml'));
  const generated = kustomization.configMapGenerator.map(({ name, files }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: Object.fromEntries(files.map((file) => [file, textOf(file)])),
  }));
  return generated.concat(kustomization.resources.flatMap((file) => documentsIn(textOf(file))));
}

const made = join(modules, 'objects.yaml');
const objects = existsSync(made) ? documentsIn(readFileSync(made, 'utf8')) : objectsWithoutKubectl();
expect('there are objects', objects.length > 5);

// --- Each object is valid for the API ---
let typed = '';
for (const [index, object] of objects.entries()) {
  const { apiVersion, kind } = object;
  const module = `kubernetes-models/${apiVersion}/${kind}`;
  typed += `import type { I${kind} as T${index} } from ${JSON.stringify(module)};\n`
    + `export const object${index}: T${index} = ${JSON.stringify(object, null, 1)};\n`;
  try {
    new (require(module)[kind])(object).validate();
  } catch (error) {
    expect(`${kind} ${object.metadata?.name}: ${error.message}`, false);
  }
}
writeFileSync(join(modules, 'objects.ts'), typed);

// --- They match each other ---
const all = (kind) => objects.filter((object) => object.kind === kind);
const one = (kind, name) => all(kind).find((object) => object.metadata.name.startsWith(name));
const podsOf = (object) => object.spec.jobTemplate?.spec.template ?? object.spec.template;
const workloads = ['StatefulSet', 'Deployment', 'CronJob'].flatMap(all);
const selects = (selector, labels) => Object.entries(selector).every(([key, value]) => labels[key] === value);

// The Secrets are not part of the manifests: these are the ones that make-secrets prints.
const secrets = { redis: ['users.acl', 'probe-password', 'ca.crt', 'tls.crt', 'tls.key'], 'quorum-lock': ['password', 'ca.crt'] };
for (const workload of workloads) {
  const name = `${workload.kind} ${workload.metadata.name}`;
  const { spec, metadata } = podsOf(workload);
  expect(`${name}: selects its own pods`,
    workload.kind === 'CronJob' || selects(workload.spec.selector.matchLabels, metadata.labels));
  expect(`${name}: has no token of the API, and no root`,
    spec.automountServiceAccountToken === false && spec.securityContext.runAsNonRoot);
  const volumes = new Set((spec.volumes ?? []).concat(workload.spec.volumeClaimTemplates ?? [])
    .map((volume) => volume.name ?? volume.metadata.name));
  for (const source of (spec.volumes ?? []).flatMap((volume) => volume.projected?.sources ?? [])) {
    if (source.configMap) expect(`${name}: ConfigMap ${source.configMap.name}`, one('ConfigMap', source.configMap.name));
    for (const { key } of source.secret?.items ?? []) {
      expect(`${name}: ${key} of the Secret ${source.secret.name}`, secrets[source.secret.name]?.includes(key));
    }
  }
  for (const container of (spec.initContainers ?? []).concat(spec.containers)) {
    const ports = new Set((container.ports ?? []).map((port) => port.name));
    expect(`${name}: has no right that it does not need`, !container.securityContext.allowPrivilegeEscalation);
    for (const { name: volume } of container.volumeMounts ?? []) expect(`${name}: volume ${volume}`, volumes.has(volume));
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const port = container[probe]?.httpGet?.port;
      expect(`${name}: port ${port} of its ${probe}`, port === undefined || ports.has(port));
    }
  }
}
for (const service of all('Service')) {
  const workload = workloads.find((each) => selects(service.spec.selector, podsOf(each).metadata.labels));
  expect(`Service ${service.metadata.name}: has pods`, workload);
  if (service.spec.clusterIP === 'None') expect('names before readiness', service.spec.publishNotReadyAddresses);
}

// --- The nodes: as many masters as clients name, each under its own name; a majority always stays ---
const nodes = one('StatefulSet', 'redis');
const named = textOf('quorum-lock.toml').match(/rediss:\/\/[^"]+/g);
const wanted = [...Array(nodes.spec.replicas).keys()].map(
  (index) => `rediss://${nodes.metadata.name}-${index}.${nodes.spec.serviceName}.redlock.svc`);
expect(`quorum-lock.toml names ${wanted}`, String(named) === String(wanted));
expect('the namespace is that of the names', objects.every((object) => (object.metadata.namespace ?? 'redlock') === 'redlock'));
expect('with the disruption budget used up, one more node may fail',
  one('PodDisruptionBudget', 'redis').spec.maxUnavailable + 1 <= Math.floor((nodes.spec.replicas - 1) / 2));
const configuration = one('ConfigMap', 'node').data['redis.conf'];
for (const setting of ['maxmemory-policy noeviction', 'aclfile ', 'port 0', 'save ""']) {
  expect(`redis.conf: ${setting}`, configuration.split('\n').some((line) => line.startsWith(setting)));
}
expect('redis.conf: no replication', !/^replicaof/m.test(configuration));

if (failures === 0) console.log(`ok: ${objects.length} objects are valid and fit each other`);
process.exit(failures > 0 ? 1 : 0);
