import { expect, test } from 'vitest'
import { describeActivity, describeWrite } from './activityTexts.ts'

type SentenceInput = Parameters<typeof describeActivity>[0]
const you = { kind: 'owner', name: null } as const
const key = { kind: 'key', name: 'research-agent' } as const
const service = { kind: 'service', name: null } as const
const createActivity = (
  type: SentenceInput['type'],
  description: string,
  more: Partial<SentenceInput> = {},
): SentenceInput => ({
  type,
  description,
  by: you,
  sandbox_name: 'atlas',
  command: null,
  ...more,
})

test.each<[SentenceInput, string]>([
  [createActivity('sandbox.created', 'Created.'), 'You created atlas.'],
  [
    createActivity('sandbox.created', 'Created from a snapshot of web.', { by: key }),
    'research-agent created atlas from a snapshot of web.',
  ],
  [createActivity('sandbox.stopped', 'Stopped.', { by: key }), 'research-agent stopped atlas.'],
  [
    createActivity('sandbox.stopped', 'Stopped after 5 minutes without use.', { by: service }),
    'atlas stopped after 5 minutes without use.',
  ],
  [
    createActivity('sandbox.renamed', 'Renamed atlas to Nova Box!.', { sandbox_name: 'Nova Box!' }),
    'You renamed atlas to Nova Box!',
  ],
  [
    createActivity('sandbox.changed', 'Network none from the next start.'),
    'You changed atlas: network none from the next start.',
  ],
  [createActivity('sandbox.deleted', 'Deleted.'), 'You deleted atlas.'],
  [
    createActivity('sandbox.deleted', 'Could not be created. Nothing of it is left.', { by: key }),
    'atlas: could not be created. Nothing of it is left.',
  ],
  [
    createActivity('terminal.opened', 'Opened a terminal.', { by: { kind: 'link', name: 'night job' } }),
    'Someone with a terminal link of night job opened a terminal in atlas.',
  ],
  [
    createActivity('terminal.opened', 'Opened a terminal.', { by: { kind: 'link', name: null } }),
    'Someone with a terminal link opened a terminal in atlas.',
  ],
  [
    createActivity('terminal.opened', 'Opened a terminal.', { by: key, command: 'python3 -i' }),
    'research-agent opened a terminal with “python3 -i” in atlas.',
  ],
  [
    createActivity('terminal.closed', 'Terminal “logs” ended by SIGKILL.', { by: service }),
    'atlas: terminal “logs” ended by SIGKILL.',
  ],
  [
    createActivity('file.written', describeWrite('/root/big.bin', 30_000_000)),
    'You wrote /root/big.bin (30 MB) in atlas.',
  ],
  [
    createActivity('command.run', 'Ran a command: exit code 0 after 1.2 s.', { by: key, command: 'npm   test\n' }),
    'research-agent ran “npm test” in atlas: exit code 0 after 1.2 s.',
  ],
  [
    createActivity('snapshot.restored', 'Restored the snapshot “before”.'),
    'You restored the snapshot “before” of atlas.',
  ],
  [createActivity('key.created', 'Created the API key “ci”.', { sandbox_name: null }), 'You created the API key “ci”.'],
  [
    createActivity('account.allowed', 'Allowed 0x12…ab an account.', { sandbox_name: null }),
    'You allowed 0x12…ab an account.',
  ],
  [
    createActivity('auth.signed_in', '0x12ab…90ef signed in.', { sandbox_name: null, by: service }),
    '0x12ab…90ef signed in.',
  ],
  [
    createActivity('sandbox.started', 'Started.', {
      by: { kind: 'wallet', name: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C' },
    }),
    '0x2096…287C started atlas.',
  ],
])('describes the activity %o', (entry, sentence) => {
  expect(describeActivity(entry, 'This computer')).toBe(sentence)
})

test('truncates a long command in the description', () => {
  const sentence = describeActivity(
    createActivity('command.run', 'Ran a command: exit code 0 after 3 ms.', { command: 'x'.repeat(5000) }),
    'x',
  )
  expect(sentence.length).toBeLessThan(200)
})

test.each([
  [0, '0 bytes'],
  [18, '18 bytes'],
  [1234, '1.2 kB'],
  [30_000_000, '30 MB'],
  [2_500_000_000, '2.5 GB'],
])('formats %i bytes as %s', (bytes, words) => {
  expect(describeWrite('/a', bytes)).toBe(`Wrote /a (${words}).`)
})
