/** Assembled from `init/x64.S` and `init/arm64.S`; `firstProcess.test.ts` compares them. */
const code: Partial<Record<NodeJS.Architecture, { machine: number; text: string }>> = {
  x64: {
    machine: 62,
    text: 'b80d000000bf11000000488d354700000031d241ba080000000f05b801000000bf01000000488d354c000000ba060000000f05b803000000bf010000000f05b803000000bf020000000f05b8220000000f05ebf70f1f4000010000000000000000000000000000000000000000000000000000000000000072656164790a',
  },
  arm64: {
    machine: 183,
    text:
      'c81080d2200280d201030010020080d2030180d2010000d4080880d2200080d241030010c20080d2010000d4280780d2200080d2010000d4280780d2400080d2010000d4280980d2000080d2010080d2020080d2030080d2040080d2010000d4f9ffff171f2003d50100000000000000000000000000000000000000000000000000000000000000' +
      '72656164790a',
  },
}

const headerBytes = 64 + 56
const address = 0x400000n

/**
 * Builds the first process of every sandbox. It needs no library, reads no file, and only makes the kernel reap
 * orphans. Prints `ready` once it runs.
 * @returns an ELF file, see elf(5), or undefined on an architecture that sandboxes were never tested on
 */
export function buildFirstProcess(architecture: NodeJS.Architecture = process.arch): Buffer | undefined {
  const sandboxCode = code[architecture]
  if (!sandboxCode) return undefined
  const text = Buffer.from(sandboxCode.text, 'hex')
  const header = Buffer.alloc(headerBytes)
  const size = BigInt(headerBytes + text.length)
  header.write('\x7fELF\x02\x01\x01', 'latin1') // 64 bits, little-endian
  header.writeUInt16LE(2, 16) // ET_EXEC
  header.writeUInt16LE(sandboxCode.machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(address + BigInt(headerBytes), 24) // entry point
  header.writeBigUInt64LE(64n, 32) // offset of the program header
  header.writeUInt16LE(64, 52)
  header.writeUInt16LE(56, 54)
  header.writeUInt16LE(1, 56)
  header.writeUInt32LE(1, 64) // PT_LOAD
  header.writeUInt32LE(5, 68) // PF_R | PF_X
  header.writeBigUInt64LE(address, 80)
  header.writeBigUInt64LE(address, 88)
  header.writeBigUInt64LE(size, 96)
  header.writeBigUInt64LE(size, 104)
  header.writeBigUInt64LE(0x1000n, 112)
  return Buffer.concat([header, text])
}
