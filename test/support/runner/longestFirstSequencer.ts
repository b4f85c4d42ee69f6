import { basename } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files to start first, because the run would otherwise end by waiting for one of them. Add new entries from the
 * slowest files that a test run reports.
 */
const slowest = [
  'docker',
  'escapeLayers',
  'systemImage',
  'bubblewrapImage',
  'bubblewrap',
  'bubblewrapWarmPool',
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
  'domains',
  'terminalView',
  'chat',
  'settings',
  'terminals',
  'files',
  'sandboxPanel',
  'approvals',
  'wallet',
  'frame',
  'plantedSecrets',
  'activity',
  'credits',
  'models',
  'chatTools',
  'chatLibrary',
  'hostileModel',
  'screens',
]

/** Runs the longest files of each group first, then the others in vitest's order. */
export class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const defaultOrder = await super.sort(files)
    return defaultOrder.toSorted((a, b) => getOrder(a) - getOrder(b) || getRank(a) - getRank(b))
  }
}

function getOrder({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}

function getRank({ moduleId }: TestSpecification): number {
  const rank = slowest.indexOf(basename(moduleId).replace(/\.test\.tsx?$/, ''))
  return rank === -1 ? slowest.length : rank
}
