import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Begun last, one of these would be waited for alone. The run tells its slowest files: who is new among them comes here. */
const longest = [
  'docker',
  'escapeLayers',
  'systemImage',
  'bubblewrapImage',
  'bubblewrap',
  'bubblewrapSpare',
  'escapePid1',
  'serviceFiles',
  'hostTerminals',
  'shell',
  'packaging',
  'commandLine',
  'escapeNetwork',
  'serviceRecovery',
  'network',
  'limits',
  'hostProcess',
  'paymentCrash',
  'approvalAuthority',
  'openWallet',
  'keystoreFile',
  'screenPool',
  'perlScript',
]

/** Within a group, the longest files first, then the others as vitest orders them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const usual = await super.sort(files)
    return usual.toSorted((one, other) => orderOf(one) - orderOf(other) || rankOf(one) - rankOf(other))
  }
}

function orderOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}

function rankOf({ moduleId }: TestSpecification): number {
  const rank = longest.indexOf(basename(moduleId).replace(/\.test\.tsx?$/, ''))
  return rank === -1 ? longest.length : rank
}
