import type { Page } from 'playwright-core'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchPaid } from '#shared/contract/localPayments.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import { type ChainType, getWallet } from '#shared/contract/wallet.ts'
import { solanaShop } from '../support/fakes/solanaShop.ts'
import { uptoMarket } from '../support/fakes/uptoMarket.ts'
import { createEvmNode, type EvmNode } from '../support/processes/evmNode.ts'
import { approvalsScreen } from './pages/approvalsScreen.ts'
import { pictures } from './pages/pictures.ts'
import { ownStewardInBrowser, type StewardInBrowser } from './pages/stewardInBrowser.ts'
import { createWallet } from './pages/walletPrompt.ts'

/** Sites that sell by x402, paid on an EVM node and on a Solana runtime: request, approval and receipt. */
let app: StewardInBrowser
let node: EvmNode
let solana: Awaited<ReturnType<typeof solanaShop>>
const look = pictures()
const payTo = '0x2222222222222222222222222222222222222222'
const stranger = '11111111111111111111111111111112'

beforeAll(async () => {
  const [base] = evmNetworks
  node = await createEvmNode(base)
  solana = await solanaShop({ payer: stranger })
  const rpc = { base: node.url, base_sepolia: 'http://127.0.0.1:9', solana: solana.cluster.url }
  app = await ownStewardInBrowser({ config: { wallet: { secret_store: 'vault_file', rpc } } })
})
afterAll(async () => {
  await app?.close()
  await solana?.close()
  await node?.close()
})

const section = (page: Page, name: string) =>
  page
    .getByRole('navigation', { name: 'Sections' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click()

/** Returns the address of the wallet, and creates the wallet if it does not exist. */
async function readAddress(page: Page, chain: ChainType): Promise<string> {
  await section(page, 'Wallet')
  const getWalletState = () => app.person.call(getWallet, {})
  if ((await getWalletState()).state === 'absent') await createWallet(page, 'velvet harbor orbit mosaic lantern')
  const account = (await getWalletState()).keyrings
    .flatMap(({ accounts }) => accounts)
    .find((it) => it.chain_type === chain)
  return account?.address ?? ''
}

async function receipt(page: Page, sentence: string) {
  await section(page, 'Payments')
  await page.getByRole('link', { name: sentence }).first().click()
  return page.getByRole('article', { name: 'Payment' })
}

test('shows the limit and the lower charge of a site and spends the charge', async () => {
  const { page } = await app.window()
  const address = await readAddress(page, 'evm')
  const market = await uptoMarket(node, { payTo, cap: 1_000_000 })
  await market.fund(address as Address) // hexadecimal, validated by the wallet
  const { url, close } = await market.open((permit) => market.settle(permit, 300_000))
  try {
    await app.person.call(fetchPaid, { url })
    const approvals = approvalsScreen(page)
    await approvals.open()
    await approvals.shows(/up to 1\.00 USDC/i)
    await page.getByText('Wallet created').waitFor({ state: 'hidden' })
    await look(page, 'approvals-upto')
    await approvals.isArmed()
    await approvals.approveOnce()
    await approvals.became('Signed')
    const receiptText = await receipt(page, url.replace('http://', ''))
    await receiptText.getByText('0.30 USDC was paid.').waitFor()
    await receiptText.getByText('$1.00', { exact: true }).waitFor()
    await look(page, 'payments-upto')
  } finally {
    await close()
  }
})

test('pays a site on Solana and shows the remaining balance', async () => {
  const { page } = await app.window()
  const address = await readAddress(page, 'solana')
  await solana.cluster.give(address, 5_000_000n)
  solana.cluster.airdrop(address, 20_000_000n)
  await app.person.call(fetchPaid, { url: solana.url })
  const approvals = approvalsScreen(page)
  await approvals.open()
  await approvals.shows(/0\.01 USDC/)
  await look(page, 'approvals-solana')
  await approvals.isArmed()
  await approvals.approveOnce()
  await approvals.became('Signed')
  const receiptText = await receipt(page, new URL(solana.url).host)
  await receiptText.getByText('0.01 USDC was paid.').waitFor()
  await look(page, 'payments-solana')
  expect(await solana.cluster.balance(solana.payTo)).toBe(10_000n)
  await section(page, 'Wallet')
  await page.getByRole('button', { name: /^Network/ }).click()
  await page.getByRole('menuitemradio', { name: 'Solana', exact: true }).click()
  await page.getByRole('status', { name: 'USDC' }).getByText('$4.99').waitFor()
  await page.getByRole('status', { name: 'SOL' }).getByText('0.02 SOL').waitFor()
  await look(page, 'wallet-solana')
})
