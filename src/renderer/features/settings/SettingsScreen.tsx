import { type ComponentType, useEffect, useRef } from 'react'
import { joinClassNames } from '../../ui/classNames.ts'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { buildAddress, useRoute } from '../../ui/route.ts'
import { AccountSection } from './account/AccountSection.tsx'
import { ActivitySection } from './activity/ActivitySection.tsx'
import { CodingAgentsSection } from './agents/CodingAgentsSection.tsx'
import { AppearanceSection } from './appearance/AppearanceSection.tsx'
import { ApiKeysSection } from './keys/ApiKeysSection.tsx'
import { WalletLockSection } from './lock/WalletLockSection.tsx'
import { ModelsSection } from './models/ModelsSection.tsx'
import { PoliciesSection } from './policies/PoliciesSection.tsx'
import { type SettingsSectionId, settingsSections } from './settingsSections.ts'
import { ToolServersSection } from './toolServers/ToolServersSection.tsx'
import { ToolClientsSection } from './tools/ToolClientsSection.tsx'

const views: Record<SettingsSectionId, ComponentType> = {
  account: AccountSection,
  keys: ApiKeysSection,
  models: ModelsSection,
  'coding-agents': CodingAgentsSection,
  tools: ToolClientsSection,
  'tool-servers': ToolServersSection,
  lock: WalletLockSection,
  policies: PoliciesSection,
  activity: ActivitySection,
  appearance: AppearanceSection,
}

export function SettingsScreen() {
  const [, named] = useRoute()
  const present = settingsSections.find(({ id }) => id === named) ?? settingsSections[0]
  const View = views[present.id]
  const content = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Scrolls to the top when another section is selected.
    if (present.id) content.current?.scrollTo({ top: 0 })
  }, [present.id])
  return (
    <PageFrame title="Settings" list={{ label: 'Settings', content: <SettingsIndex present={present.id} /> }}>
      <div ref={content} className="size-full overflow-auto">
        <PageColumn width={present.id === 'policies' ? 'table' : 'text'} className="py-5">
          <View key={present.id} />
        </PageColumn>
      </div>
    </PageFrame>
  )
}

function SettingsIndex({ present }: { present: SettingsSectionId }) {
  return (
    <nav aria-label="Settings" className="size-full overflow-auto bg-panel px-2 py-2.5">
      <ul className="flex flex-col gap-0.5">
        {settingsSections.map(({ id, title, icon: Icon }) => (
          <li key={id}>
            <a
              href={buildAddress('settings', id)}
              aria-current={id === present ? 'page' : undefined}
              className={joinClassNames(
                'flex h-8 items-center gap-2 rounded-control px-2 whitespace-nowrap',
                id === present ? 'bg-selected font-medium text-text' : 'text-muted hover:bg-hover hover:text-text',
              )}
            >
              <Icon aria-hidden className="size-4 shrink-0" strokeWidth={1.75} />
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
