import fc from 'fast-check'
import { expect, test } from 'vitest'
import { IntentKind, Policy, PolicyRule, RequesterKind } from '#shared/contract/intents.ts'
import { rule, withRules } from '#test/support/fixtures/approvals.ts'
import { evaluateIntent } from './evaluateIntent.ts'
import { checkRules, isLooser } from './policyChange.ts'
import { findFirstRule, isRuleMatch, type PolicySubject } from './policyMatch.ts'
import { initialPolicy } from './policyRepository.ts'

const labels = fc.constantFrom('a', 'b', 'shop', 'xn--n3h')
const names = fc.array(labels, { minLength: 1, maxLength: 3 }).map((parts) => `${parts.join('.')}.example`)
const ports = fc.constantFrom('', ':1', ':443')
const hosts = fc.tuple(names, ports).map((parts) => parts.join(''))
const amounts = fc.option(fc.bigInt({ min: 0n, max: 12n }), { nil: null })
const subjects: fc.Arbitrary<PolicySubject> = fc.record({
  kind: fc.constantFrom(...IntentKind.options),
  requesterKind: fc.constantFrom(...RequesterKind.options),
  host: fc.option(fc.oneof(hosts, fc.constantFrom('[::1]:4000', 'what is this?')), { nil: null }),
  amountMicroUsd: amounts,
})
const patterns = fc.oneof(
  fc.constant('*'),
  hosts,
  hosts.map((host) => `*.${host}`),
  fc.constant('[::1]:4000'),
)
const rules: fc.Arbitrary<PolicyRule> = fc.record({
  id: fc.constantFrom('1', '2', '3', '4', '5', '6'),
  effect: fc.constantFrom('allow', 'ask', 'deny'),
  kind: fc.constantFrom(...IntentKind.options, '*'),
  requester: fc.constantFrom(...RequesterKind.options, '*'),
  host: patterns,
  max_amount_micro_usd: amounts.map((amount) => (amount === null ? null : String(amount))),
})
const lists = fc.uniqueArray(rules, { maxLength: 6, selector: ({ id }) => id })

const to = (host: string | null, amountMicroUsd: bigint | null = null): PolicySubject => ({
  kind: 'siwe',
  requesterKind: 'client',
  host,
  amountMicroUsd,
})

test.each<[string, string | null, boolean]>([
  ['*', null, true],
  ['a.example', null, false],
  ['a.example', 'a.example', true],
  ['A.Example', 'a.example', true],
  ['a.example', 'a.example.', true],
  ['a.example', 'a.example:8443', false],
  ['a.example:8443', 'a.example:8443', true],
  ['a.example', 'b.a.example', false],
  ['*.example', 'a.example', true],
  ['*.example', 'b.a.example', true],
  ['*.example', 'example', false],
  ['*.example', 'badexample', false],
  ['*.a.example', 'a.example.evil.test', false],
  ['[::1]:4000', '[::1]:4000', true],
  ['*', 'user@a.example', false],
  ['*', '', false],
])('a rule that allows %s matches %s: %s', (host, pattern, expected) => {
  expect(PolicyRule.shape.host.safeParse(host).success).toBe(true)
  expect(isRuleMatch(rule({ effect: 'allow', host }), to(pattern))).toBe(expected)
})

test('a deny rule for a host matches all its ports and unparsable hosts', () => {
  const denies = (host: string) => rule({ effect: 'deny', host })
  expect(isRuleMatch(denies('a.example'), to('a.example:8443'))).toBe(true)
  expect(isRuleMatch(denies('*.example'), to('a.example:8443'))).toBe(true)
  expect(isRuleMatch(denies('a.example:1'), to('a.example:2'))).toBe(false)
  expect(isRuleMatch(denies('a.example'), to('user@b.example'))).toBe(true)
})

test('a deny rule matches every spelling of its host', () => {
  const denies = (host: string) => rule({ effect: 'deny', host })
  expect(isRuleMatch(denies('a.example:443'), to('a.example'))).toBe(true)
  expect(isRuleMatch(denies('a.example:80'), to('a.example'))).toBe(true)
  expect(isRuleMatch(denies('a.example:80'), to('a.example:8080'))).toBe(false)
  expect(isRuleMatch(denies('127.1:90'), to('127.0.0.1:90'))).toBe(true)
  expect(isRuleMatch(denies('[0:0:0:0:0:0:0:1]:90'), to('[::1]:90'))).toBe(true)
  // The scheme is unknown, so the port may differ and the rule must not match.
  expect(isRuleMatch(rule({ effect: 'allow', host: 'a.example:443' }), to('a.example'))).toBe(false)
})

test('a rule with an amount matches up to that amount', () => {
  const small = rule({ effect: 'allow', max_amount_micro_usd: '5' })
  expect([null, 0n, 5n, 6n].map((amount) => isRuleMatch(small, to('a.example', amount)))).toEqual([
    true,
    true,
    true,
    false,
  ])
  const large = rule({ effect: 'allow', max_amount_micro_usd: '999999999999999999' })
  expect(isRuleMatch(large, to(null, 999_999_999_999_999_999n))).toBe(true)
  expect(isRuleMatch(large, to(null, 1_000_000_000_000_000_000n))).toBe(false)
})

test('the first matching rule decides regardless of later rules', () => {
  fc.assert(
    fc.property(lists, lists, subjects, (first, more, subject) => {
      const rule = findFirstRule(first, subject)
      expect(rule).toEqual(first.filter((it) => isRuleMatch(it, subject))[0])
      if (rule) expect(findFirstRule([...first, ...more], subject)).toEqual(rule)
    }),
  )
})

test('a host in capitals or with a trailing dot matches the same rules', () => {
  fc.assert(
    fc.property(rules, names, ports, (rule, name, port) => {
      const plain = isRuleMatch(rule, { ...to(name + port), kind: rule.kind === '*' ? 'siwe' : rule.kind })
      const matchesOther = isRuleMatch(rule, {
        ...to(name.toUpperCase() + port),
        kind: rule.kind === '*' ? 'siwe' : rule.kind,
      })
      const dotted = isRuleMatch(rule, { ...to(`${name}.${port}`), kind: rule.kind === '*' ? 'siwe' : rule.kind })
      expect([matchesOther, dotted]).toEqual([plain, plain])
    }),
  )
})

const requester = (kind: RequesterKind) => ({ kind, id: 'it', name: 'It' })
const accountId = 'wal_0123456789abcdef01234567' as never // the type is branded
const verdict = (policy: Policy, { requesterKind, ...subject }: PolicySubject) =>
  evaluateIntent(
    { ...subject, scope: null, requester: requester(requesterKind), accountId },
    { policy, grants: [], serviceHost: undefined },
  ).effect

test('allows nothing while stopped or above the threshold, unmatched or as a foreign message', () => {
  fc.assert(
    fc.property(lists, subjects, (list, subject) => {
      const policy: Policy = { ...withRules(list), confirm_above_micro_usd: '6', stopped: false }
      expect(verdict({ ...policy, stopped: true }, subject)).toBe('deny')
      expect(verdict({ ...policy, rules: [] }, subject)).not.toBe('allow')
      const isForeignMessage = subject.kind === 'message' && subject.requesterKind !== 'person'
      if (isForeignMessage) expect(verdict(policy, subject)).toBe('deny')
      if ((subject.amountMicroUsd ?? 0n) > 6n) expect(verdict(policy, subject)).not.toBe('allow')
    }),
  )
})

const strictness = ['deny', 'ask', 'allow'] // an `ask` may be granted in advance, a `deny` never

test('a change that allows anything new counts as loosening the policy', () => {
  fc.assert(
    fc.property(lists, lists, fc.array(subjects, { minLength: 20, maxLength: 20 }), (before, after, tried) => {
      const [from, next] = [
        { ...withRules(before), stopped: false },
        { ...withRules(after), stopped: false },
      ]
      if (isLooser(from, next)) return
      for (const subject of tried) {
        const [before, after] = [verdict(from, subject), verdict(next, subject)]
        expect(strictness.indexOf(after)).toBeLessThanOrEqual(strictness.indexOf(before))
      }
    }),
    { numRuns: 1000 },
  )
})

test('a change that only removes allow rules or adds deny rules does not loosen', () => {
  fc.assert(
    fc.property(lists, rules, fc.nat(), (list, extra, index) => {
      const stricter = list.filter(({ effect }) => effect !== 'allow')
      expect(isLooser(withRules(list), withRules(list))).toBe(false)
      expect(isLooser(withRules(list), withRules(stricter))).toBe(false)
      const strict: PolicyRule = { ...extra, id: 'new', effect: 'deny' }
      expect(isLooser(withRules(list), withRules(list.toSpliced(index % (list.length + 1), 0, strict)))).toBe(false)
    }),
  )
})

test.each<[string, PolicyRule[], PolicyRule[], boolean]>([
  ['an allowing rule is added', [], [rule({ effect: 'allow' })], true],
  ['a refusing rule goes', [rule({ effect: 'deny' })], [], true],
  ['what was asked is allowed', [rule({ effect: 'ask' })], [rule({ effect: 'allow' })], true],
  ['what was denied is asked', [rule({ effect: 'deny' })], [rule({ effect: 'ask' })], true],
  [
    'an asking rule is put before one that denies',
    [rule({ effect: 'deny', id: '1' })],
    [rule({ effect: 'ask', id: '2' }), rule({ effect: 'deny', id: '1' })],
    true,
  ],
  [
    'an asking rule before one that denies asks about more',
    [rule({ effect: 'ask', id: '2', max_amount_micro_usd: '5' }), rule({ effect: 'deny', id: '1' })],
    [rule({ effect: 'ask', id: '2' }), rule({ effect: 'deny', id: '1' })],
    true,
  ],
  [
    'an asking rule is put behind one that denies',
    [rule({ effect: 'deny', id: '1', kind: 'siwe' })],
    [rule({ effect: 'deny', id: '1', kind: 'siwe' }), rule({ effect: 'ask', id: '2' })],
    false,
  ],
  ['what was allowed is asked', [rule({ effect: 'allow' })], [rule({ effect: 'ask' })], false],
  [
    'less is allowed',
    [rule({ effect: 'allow', max_amount_micro_usd: '5' })],
    [rule({ effect: 'allow', max_amount_micro_usd: '4' })],
    false,
  ],
  ['more is allowed', [rule({ effect: 'allow', max_amount_micro_usd: '5' })], [rule({ effect: 'allow' })], true],
  [
    'rules change places',
    [rule({ effect: 'deny', id: '1' }), rule({ effect: 'allow', id: '2' })],
    [rule({ effect: 'allow', id: '2' }), rule({ effect: 'deny', id: '1' })],
    true,
  ],
])('%s', (_, from, next, expected) => expect(isLooser(withRules(from), withRules(next))).toBe(expected))

test('a higher threshold loosens and a lower one does not', () => {
  const withThreshold = (confirm_above_micro_usd: string) => ({ ...withRules([]), confirm_above_micro_usd })
  expect([
    isLooser(withThreshold('9'), withThreshold('10')),
    isLooser(withThreshold('10'), withThreshold('9')),
    isLooser(withThreshold('10'), withThreshold('10')),
  ]).toEqual([true, false, false])
})

test('rejects duplicate and blank rule ids', () => {
  const [first, second] = [rule({ effect: 'ask', id: '1' }), rule({ effect: 'deny', id: '2' })]
  expect(() => checkRules(withRules([first, second]))).not.toThrow()
  for (const wrong of [[first, first], [{ ...first, id: ' ' }]])
    expect(() => checkRules(withRules(wrong))).toThrow('`rules`')
})

test('rejects a host that is not a valid address', () => {
  const deniesAt = (host: string) => withRules([rule({ effect: 'deny', host })])
  for (const host of ['1.2.3.999', '*.1.2.3.999', '[1:2]:3']) {
    expect(() => checkRules(deniesAt(host))).toThrow('which is not a valid host')
  }
  for (const host of ['*', '*.example', 'a.example:1', '[::1]:3'])
    expect(() => checkRules(deniesAt(host))).not.toThrow()
})

test('the initial policy asks for every request', () => {
  expect(Policy.parse(initialPolicy)).toEqual(initialPolicy)
  fc.assert(
    fc.property(subjects, (subject) => {
      expect(verdict(initialPolicy, subject)).toBe(
        subject.kind === 'message' && subject.requesterKind !== 'person' ? 'deny' : 'ask',
      )
    }),
  )
})
