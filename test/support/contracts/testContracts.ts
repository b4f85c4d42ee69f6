import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import solc from 'solc'
import { type Hex, parseAbi } from 'viem'
import { projectFolder } from '../fixtures/testProject.ts'

export const testDollarAbi = parseAbi([
  'constructor(string name)',
  'function balanceOf(address account) view returns (uint256)',
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value) returns (bool)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

const names = ['TestDollar', 'TestMulticall', 'TestPermit2', 'TestUptoProxy'] as const
/** Creation code by contract name. */
export type TestContracts = Record<(typeof names)[number], Hex>

/** Caches the compiled output by source, because compiling takes seconds. */
export function createTestContracts(): TestContracts {
  const sources = Object.fromEntries(
    names.map((name) => [`${name}.sol`, { content: readFileSync(join(import.meta.dirname, `${name}.sol`), 'utf8') }]),
  )
  const mark = createHash('sha256')
    .update(`${solc.version()}\n${JSON.stringify(sources)}`)
    .digest('hex')
    .slice(0, 16)
  const cachePath = join(tmpdir(), `steward-test-contracts-${mark}.json`)
  // written below in full
  if (existsSync(cachePath)) return JSON.parse(readFileSync(cachePath, 'utf8')) as TestContracts
  const code = compileContracts(sources)
  const whole = `${cachePath}.${randomUUID()}`
  writeFileSync(whole, JSON.stringify(code))
  renameSync(whole, cachePath)
  return code
}

type Compiled = { evm: { bytecode: { object: string } } }
type Output = {
  errors?: { severity: string; formattedMessage: string }[]
  contracts?: Record<string, Record<string, Compiled>>
}

function compileContracts(sources: Record<string, { content: string }>): TestContracts {
  const settings = { evmVersion: 'cancun', outputSelection: { '*': { '*': ['evm.bytecode.object'] } } }
  const input = JSON.stringify({ language: 'Solidity', sources, settings })
  const read = (path: string) => ({ contents: readFileSync(join(projectFolder, 'node_modules', path), 'utf8') })
  const output = JSON.parse(solc.compile(input, { import: read })) as Output // format documented by solc
  const error = output.errors?.find(({ severity }) => severity === 'error')
  if (error) throw new Error(error.formattedMessage)
  const readBytecode = (name: string): Hex => {
    const code = output.contracts?.[`${name}.sol`]?.[name]?.evm.bytecode.object
    if (!code) throw new Error(`solc made no code of ${name}.`)
    return `0x${code}`
  }
  return Object.fromEntries(names.map((name) => [name, readBytecode(name)])) as TestContracts // the keys are `names`
}
