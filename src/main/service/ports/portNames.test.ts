import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createPortNames, parseLabel } from './portNames.ts'

const sandboxId = SandboxId.parse('a1'.repeat(16))
const record = { sandboxId, port: 3000, visibility: 'public', subdomain: null } as const
const local = createPortNames({
  sandboxHost: undefined,
  getLocalUrl: (hostName) => `http://${hostName}:7000`,
  ownNames: ['127.0.0.1'],
  isDomain: async (name) => name === 'app.of.mine',
})
const hosted = createPortNames({
  sandboxHost: 'boxes.example',
  getLocalUrl: (hostName) => `https://${hostName}`,
  ownNames: ['api.boxes.example'],
  isDomain: async () => false,
})

test('builds URLs on this computer or below the configured sandbox host', () => {
  expect(local.getUrl(record)).toBe(`http://3000-${sandboxId}.localhost:7000`)
  expect(local.getUrl({ ...record, subdomain: 'app' })).toBe('http://app.localhost:7000')
  expect(hosted.getUrl(record)).toBe(`https://3000-${sandboxId}.boxes.example`)
})

test.each([
  ['x.localhost:7000', 'x'],
  ['X.LOCALHOST.', 'x'],
  ['a.b.localhost', 'a.b'],
  ['localhost:7000', undefined],
  ['127.0.0.1:7000', undefined],
  ['x.boxes.example', undefined],
  ['APP.of.mine.:443', 'domain:app.of.mine'],
  ['of.mine', undefined],
  ['app.of.mine.localhost', 'app.of.mine'],
  [undefined, undefined],
])('on this computer %s has the label %s', async (host, label) => expect(await local.findLabel(host)).toBe(label))

test.each([
  ['x.boxes.example:443', 'x'],
  ['x.localhost', 'x'],
  ['boxes.example', undefined],
  ['api.boxes.example', undefined],
  ['notboxes.example', undefined],
])('with a sandbox host %s has the label %s', async (host, label) => expect(await hosted.findLabel(host)).toBe(label))

const trial = createPortNames({
  sandboxHost: 'sb.localhost',
  getLocalUrl: (hostName) => `https://${hostName}`,
  ownNames: ['127.0.0.1'],
  isDomain: async () => false,
})

test.each([
  [`3000-${sandboxId}.sb.localhost:443`, `3000-${sandboxId}`],
  [`3000-${sandboxId}.localhost`, `3000-${sandboxId}`],
  ['sb.localhost', undefined],
])('with a sandbox host below localhost %s has the label %s', async (host, label) =>
  expect(await trial.findLabel(host)).toBe(label),
)

test('parses a port and a sandbox and rejects similar labels', () => {
  expect(parseLabel(`3000-${sandboxId}`)).toEqual({ port: 3000, sandboxId })
  for (const label of [`03-${sandboxId}`, `3000-${sandboxId}0`, '3000-a', sandboxId, `999999-${sandboxId}`]) {
    expect(parseLabel(label)).toBeUndefined()
  }
})
