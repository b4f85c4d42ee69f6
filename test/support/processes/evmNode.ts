import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Address, createTestClient, encodeDeployData, type Hex, http, publicActions, walletActions } from 'viem'
import { foundry } from 'viem/chains'
import type { EvmNetwork } from '#shared/contract/networks.ts'
import { createTestContracts, testDollarAbi } from '../contracts/testContracts.ts'
import { projectFolder } from '../fixtures/testProject.ts'

/** Local chain (Foundry's anvil) in a separate process, with USDC and Multicall3 at the network's addresses. */
export type EvmNode = {
  url: string
  client: ReturnType<typeof createClient>
  /** Mints USDC to this address. */
  mint(address: string, atomic: bigint): Promise<void>
  setEther(address: string, wei: bigint): Promise<void>
  /** Deploys the contract of this creation code at a given address. */
  deploy(address: Address, data: Hex): Promise<void>
  close(): Promise<void>
}

export const multicallAddress = '0xcA11bde05977b3631167028862bE2a173976CA11'
/** First of anvil's accounts, which anvil signs for. */
const funded: Address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

export async function createEvmNode({ chainId, usdc }: Pick<EvmNetwork, 'chainId' | 'usdc'>): Promise<EvmNode> {
  const child = spawn(anvilFile(), ['--port', '0', '--chain-id', String(chainId)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const close = () => end(child)
  try {
    const url = `http://${await listeningOn(child)}`
    const client = createClient(url, chainId)
    const deploy = async (address: Address, data: Hex) => {
      const hash = await client.sendTransaction({ account: funded, data })
      const { contractAddress } = await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
      const code = contractAddress ? await client.getCode({ address: contractAddress }) : undefined
      if (!code) throw new Error(`The contract for ${address} was not made.`)
      await client.setCode({ address, bytecode: code })
    }
    const { TestDollar, TestMulticall } = createTestContracts()
    await deploy(multicallAddress, TestMulticall)
    await deploy(usdc.address, encodeDeployData({ abi: testDollarAbi, bytecode: TestDollar, args: [usdc.name] }))
    return {
      url,
      client,
      async mint(address, atomic) {
        const call = { address: usdc.address, abi: testDollarAbi, functionName: 'mint', account: funded } as const
        const hash = await client.writeContract({ ...call, args: [address as Address, atomic] })
        await client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
      },
      setEther: (address, wei) => client.setBalance({ address: address as Address, value: wei }),
      deploy,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function createClient(url: string, chainId: number) {
  const chain = { ...foundry, id: chainId }
  return createTestClient({ mode: 'anvil', chain, transport: http(url) })
    .extend(publicActions)
    .extend(walletActions)
}

/** Locates the binary itself instead of its launcher script, so that the test can kill it. */
function anvilFile(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  return join(projectFolder, 'node_modules/@foundry-rs', `anvil-${process.platform}-${architecture}`, 'bin', name)
}

async function listeningOn({ stdout, stderr }: ChildProcess): Promise<string> {
  if (!stdout || !stderr) throw new Error('anvil has no output.')
  const output: string[] = []
  stderr.on('data', (text: Buffer) => output.push(text.toString()))
  for await (const line of createInterface({ input: stdout, signal: AbortSignal.timeout(60_000) })) {
    const address = /Listening on (\S+)/.exec(line)?.[1]
    if (address === undefined) continue
    stdout.resume()
    return address
  }
  throw new Error(`anvil said no address: ${output.join('')}`)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}
