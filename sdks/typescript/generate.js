// What openapi-ts makes src/generated of: the gateway's OpenAPI document, changed so that each operation takes
// one flat object, `sendText({ instanceId, to, message })`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';

const document = parse(readFileSync(new URL('../../docs/openapi.yaml', import.meta.url), 'utf8'));

// JSON has no other numbers than JavaScript's, so int64 is no bigint.
const withoutWidth = (value) => {
  if (typeof value !== 'object' || value === null) return;
  if (value.format === 'int64') delete value.format;
  Object.values(value).forEach(withoutWidth);
};
withoutWidth(document);

// By hand: a stream that resumes.
delete document.paths['/api/instances/{instanceId}/events'];

const idempotent = [];
for (const [path, operations] of Object.entries(document.paths)) {
  for (const operation of Object.values(operations)) {
    if (operation.parameters?.some((parameter) => parameter.name === 'Idempotency-Key')) idempotent.push(path);
    const json = operation.requestBody?.content?.['application/json'];
    if (!json) continue;
    const schema = document.components.schemas[json.schema.$ref?.split('/').pop()] ?? json.schema;
    operation.requestBody.content = { 'application/json': { ...json, schema } };
  }
}

const output = 'src/generated';
mkdirSync(output, { recursive: true });
writeFileSync(
  `${output}/idempotent.ts`,
  `/** Paths of the operations that take an Idempotency-Key. */\nexport const idempotent: ReadonlySet<string> = new Set(${JSON.stringify(idempotent)});\n`,
);

export default {
  input: document,
  output: { path: output, clean: false, importFileExtension: '.js' },
  plugins: [
    '@hey-api/typescript',
    { name: '@hey-api/client-fetch', throwOnError: true },
    {
      name: '@hey-api/sdk',
      operations: { containerName: 'Operations', methods: 'instance', strategy: 'single' },
      paramsStructure: 'flat',
      responseStyle: 'data',
    },
  ],
};
