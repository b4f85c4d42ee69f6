import { expect, test } from 'vitest'
import { listEntryLinks } from './entryLinks.ts'

test('links to everything that the window can show', () => {
  const links = { conversation: 'conv_1', message: 'msg_1', intent: 'int_1', payment: 'pay_1', domain: 'a.example' }
  expect(listEntryLinks({ links, detail: {}, problem: null }).map(({ label, href }) => `${label}: ${href}`)).toEqual([
    'Open message: #/chat/conv_1/msg_1',
    'Open approval: #/approvals/int_1',
    'Open payment: #/payments/pay_1',
    'Open domain: #/domains/name/a.example',
  ])
})

test('links to ids in the details of entries from earlier versions', () => {
  const links = listEntryLinks({ links: {}, detail: { intent_id: 'int_1', amount: 5 }, problem: null })
  expect(links).toEqual([{ label: 'Open approval', href: '#/approvals/int_1' }])
})

test('shows no links for a tampered entry', () => {
  expect(listEntryLinks({ links: { intent: 'int_1' }, detail: {}, problem: 'It was changed.' })).toEqual([])
})
