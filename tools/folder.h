/* folder.h - the folder that a command writes to. */
#ifndef CAIRN_TOOLS_FOLDER_H
#define CAIRN_TOOLS_FOLDER_H

/* Make the folder, and those above it that are missing, before work begins whose results would be
 * lost without it. EXIT_DONE, or EXIT_FAILED after a message of the command. */
int cairn_folder_prepare(const char *command, const char *folder);

#endif
