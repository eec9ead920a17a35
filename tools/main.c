/* main.c - the program `cairn`: finds the command in the table and runs it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const cairn_command *const commands[] = {
    &cairn_command_run,    &cairn_command_resume,  &cairn_command_check,     &cairn_command_list,
    &cairn_command_info,   &cairn_command_explain, &cairn_command_solve,     &cairn_command_compare,
    &cairn_command_stat,   &cairn_command_plot,    &cairn_command_reproduce, &cairn_command_view,
    &cairn_command_export, &cairn_command_sweep,   &cairn_command_help,
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

const cairn_command *cairn_command_find(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return commands[i];
    }
    const char *nearest = cairn_nearest_name(name, names, COMMANDS);
    fprintf(stderr, "cairn: unknown command '%s'", name);
    if (nearest)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\nTry 'cairn help'.\n");
    return NULL;
}

static void print_overview(void)
{
    puts("cairn - rigid bodies with hard contact and Coulomb friction\n");
    puts("usage: cairn COMMAND [ARGUMENTS]\n");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
    puts("\n'cairn help COMMAND' describes a command; 'cairn --version' prints the version.");
}

static void print_flag(const cairn_flag *flag)
{
    char written[40];
    snprintf(written, sizeof written, "%s%s%s", flag->name, flag->value ? " " : "",
             flag->value ? flag->value : "");
    if (flag->letter)
        printf("  -%c, %-20s %s\n", flag->letter, written, flag->text);
    else
        printf("      %-20s %s\n", written, flag->text);
}

static void print_command(const cairn_command *command)
{
    printf("usage: cairn %s%s%s%s\n\n%s.\n", command->name, command->operand ? " " : "",
           command->operand ? command->operand : "", command->flags[0] ? " [FLAGS]" : "",
           command->summary);
    if (command->details)
        printf("\n%s\n", command->details);
    puts("");
    for (int i = 0; command->flags[i]; i++)
        print_flag(command->flags[i]);
    print_flag(&cairn_flag_help);
}

static int help(const cairn_arguments *arguments)
{
    if (!arguments->operand) {
        print_overview();
        return EXIT_DONE;
    }
    const cairn_command *command = cairn_command_find(arguments->operand);
    if (!command)
        return EXIT_USAGE;
    print_command(command);
    return EXIT_DONE;
}

static const cairn_flag *const no_flags[] = { NULL };

const cairn_command cairn_command_help = {
    .name = "help",
    .operand = "[COMMAND]",
    .summary = "Show how to use the program or a command",
    .flags = no_flags,
    .run = help,
};

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        char mpi[64];
        printf("cairn %s\n", cairn_version());
        if (cairn_mpi_name(mpi, sizeof mpi))
            printf("with %s\n", mpi);
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview();
        return EXIT_DONE;
    }
    const cairn_command *command = cairn_command_find(argv[1]);
    if (!command)
        return EXIT_USAGE;
    cairn_arguments arguments = { 0 };
    int code = cairn_arguments_read(command, argc - 2, argv + 2, &arguments);
    if (code != EXIT_DONE)
        return code;
    if (arguments.help) {
        print_command(command);
        return EXIT_DONE;
    }
    return command->run(&arguments);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    /* all output must have been written: a full disk is a failure */
    if ((fflush(stdout) || ferror(stdout)) && code == EXIT_DONE) {
        fprintf(stderr, "cairn: writing the output failed: %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    return code;
}
