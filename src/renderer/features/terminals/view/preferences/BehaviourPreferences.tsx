import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { allowNotifications, areNotificationsAllowed } from '../bell.ts'
import { PreferenceGroup, type PreferencePart } from './PreferenceGroup.tsx'

export function BehaviourPreferences({ preferences, onChange }: PreferencePart) {
  const changeNotification = async (which: 'bellNotification' | 'callNotification', enabled: boolean) => {
    if (!enabled || (await allowNotifications())) onChange({ [which]: enabled })
    else notify.info('Notifications are not allowed for this page.', { hint: 'Allow them in the browser first.' })
  }
  return (
    <>
      <PreferenceGroup title="Selecting, pasting and closing">
        <div className="grid grid-cols-2 gap-3.5">
          <Select
            label="Right click"
            value={preferences.rightClick}
            onChange={(rightClick) => onChange({ rightClick })}
            options={[
              { value: 'menu', label: 'Opens the menu' },
              { value: 'word', label: 'Selects a word and opens the menu' },
              { value: 'paste', label: 'Copies or pastes', detail: 'Shift+right-click opens the menu.' },
            ]}
          />
          <Select
            label="Programs that copy to the clipboard"
            value={preferences.programClipboard}
            onChange={(programClipboard) => onChange({ programClipboard })}
            options={[
              { value: 'ask', label: 'Ask once for each terminal' },
              { value: 'allow', label: 'Allow' },
              { value: 'refuse', label: 'Deny' },
            ]}
          />
        </div>
        <Checkbox
          label="Copy on select"
          checked={preferences.copyOnSelect}
          onChange={(copyOnSelect) => onChange({ copyOnSelect })}
        />
        <Checkbox
          label="Ask before pasting several lines"
          hint="Only if the program runs each line as it arrives."
          checked={preferences.pasteWarning}
          onChange={(pasteWarning) => onChange({ pasteWarning })}
        />
        <Checkbox
          label="Ask before closing a terminal with a running program"
          hint="Idle shells close without asking."
          checked={preferences.closeWarning}
          onChange={(closeWarning) => onChange({ closeWarning })}
        />
      </PreferenceGroup>
      <PreferenceGroup title="Bell and notifications">
        <Checkbox label="Mark the tab" checked={preferences.bellMark} onChange={(bellMark) => onChange({ bellMark })} />
        <Checkbox
          label="Play a sound"
          checked={preferences.bellSound}
          onChange={(bellSound) => onChange({ bellSound })}
        />
        <Checkbox
          label="Notify me while the window is hidden"
          checked={preferences.bellNotification}
          onChange={(enabled) => void changeNotification('bellNotification', enabled)}
        />
        <Checkbox
          label="Notify me when a program needs me"
          hint="For example, when a coding agent waits for you. Only while this window is in the background."
          checked={preferences.callNotification && areNotificationsAllowed()}
          onChange={(enabled) => void changeNotification('callNotification', enabled)}
        />
      </PreferenceGroup>
      <PreferenceGroup title="Commands and reading">
        <Checkbox
          label="Mark commands at the left edge"
          hint="Shows how each ended, with a menu to copy its output or run it again."
          checked={preferences.commandMarks}
          onChange={(commandMarks) => onChange({ commandMarks })}
        />
        <Checkbox
          label="Read output aloud"
          hint="For screen readers. Slows down output."
          checked={preferences.screenReader}
          onChange={(screenReader) => onChange({ screenReader })}
        />
      </PreferenceGroup>
    </>
  )
}
