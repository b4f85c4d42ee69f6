import { afterAll, beforeAll, expect, test } from 'vitest'
import { getAutomaton } from '#shared/contract/automatons.ts'
import { importPrivateKey } from '../support/clients/walletForms.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import { identityScreen } from './pages/identityScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'

/** A user registers an automaton in the window. */
let app: StewardInBrowser
const look = pictures()

beforeAll(async () => {
  app = await ownStewardInBrowser()
})
afterAll(() => app?.close())

test('asks for a wallet first', async () => {
  const { page } = await app.window()
  const identity = identityScreen(page)
  await identity.open()
  await page.getByRole('heading', { name: 'Create a wallet first' }).waitFor()
  await look(page, 'identity-no-wallet')
})

test('registers permanently from a file and a prompt after approval, and reports refusals', async () => {
  // Second account of the Hardhat and Anvil test mnemonic.
  const key = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
  await importPrivateKey(app.person, { key, passphrase: 'orbit lantern velvet quarry mosaic' })
  const { page } = await app.window()
  const identity = identityScreen(page)
  const approvals = approvalsScreen(page)
  await identity.open()
  await identity.begin()

  await identity.fillFrom('{"nmae":"Ada","bio":7}')
  const alert = identity.form.getByRole('alert')
  await alert.getByText('automaton.json: Unknown field “nmae”.').waitFor()
  await alert.getByText('automaton.json: `bio` must be a string.').waitFor()
  const automaton_id = 'a1b2c3d4-0000-4000-8000-000000000000'
  await identity.fillFrom(JSON.stringify({ automaton_id, name: 'Research agent', bio: 'Reads papers.' }))
  await alert.waitFor({ state: 'detached' })
  const prompt = 'You are a careful reader. Marked for nobody else.'
  const requests: string[] = []
  page.on('request', (request) => requests.push(request.postData() ?? ''))
  await identity.typePrompt(prompt)
  await look(page, 'identity-form')
  const review = await identity.review()
  await review.getByText(`"automatonId": "${automaton_id}"`).waitFor()
  await look(page, 'identity-review')
  await identity.askForApproval()
  await identity.is('Needs you')
  await look(page, 'identity-waiting')

  await identity.toRequest()
  await approvals.shows(/^Register the automaton “Research agent”/)
  await approvals.isArmed()
  await approvals.approveOnce()
  await approvals.became('Signed')
  await identity.open()
  await identity.is('Registered')
  await look(page, 'identity')
  const { automaton } = await app.client.call(getAutomaton, { id: automaton_id })
  expect(automaton).toMatchObject({ name: 'Research agent', bio: 'Reads papers.', chain_type: 'evm' })
  await identity.automaton.getByText(automaton.genesis_prompt_hash ?? 'none').waitFor()
  expect(requests.join('\n')).toContain(automaton.genesis_prompt_hash)
  expect(requests.join('\n')).not.toContain('Marked for nobody else')

  await identity.begin()
  await identity.form.getByLabel('Name').fill('Eve')
  await identity.review()
  await identity.askForApproval()
  await identity.toRequest()
  await approvals.shows(/^Register the automaton “Eve”/)
  await approvals.deny()
  await approvals.became('Denied')
  await identity.open()
  await identity.row('Eve').click()
  await identity.is('Denied')
  await look(page, 'identity-refused')
  await identity.automaton.getByRole('button', { name: 'Edit and try again' }).click()
  expect(await identity.form.getByLabel('Name').inputValue()).toBe('Eve')
})
